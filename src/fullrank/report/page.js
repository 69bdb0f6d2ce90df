"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
  const axis = {
    labelColor: "var(--soft)", titleColor: "var(--soft)", gridColor: "var(--line)", domainColor: "var(--line)",
    tickColor: "var(--line)", labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8, labelPadding: 5,
  };
  const config = {
    aria: false, background: null, font, axis, axisX: { grid: false, labelOverlap: "greedy", labelSeparation: 5 }, axisY: { domain: false, ticks: false },
    view: { stroke: null }, text: { fontSize: 12 },
    title: {
      color: "var(--ink)", subtitleColor: "var(--soft)", anchor: "start", frame: "group", fontSize: 13, fontWeight: 600,
      subtitleFontSize: 12, offset: 8,
    },
  };

  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

  // a copy of `base` with the parts of `change` put over it
  const merged = (base, change) => {
    const copy = { ...base };
    for (const [key, value] of Object.entries(change)) {
      copy[key] = isObject(value) && isObject(copy[key]) ? merged(copy[key], value) : value;
    }
    return copy;
  };

  // the spec without the rows of models that are switched off
  const without = (spec, hidden) => {
    const copy = { ...spec };
    if (copy.data) copy.data = { values: copy.data.values.filter((row) => !hidden.has(row.model)) };
    if (copy.layer) copy.layer = copy.layer.map((layer) => without(layer, hidden));
    return copy;
  };

  const draw = (panel, spec) => {
    const sized = { ...spec, width: panel.clientWidth, autosize: { type: "fit-x", contains: "padding" }, padding: 2 };
    const compiled = vegaLite.compile(sized, { config, logger: vega.logger(vega.Error) }).spec;
    if (panel.view) panel.view.finalize();
    panel.view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter, renderer: "svg", container: panel, hover: false, logLevel: vega.Error,
    });
    panel.view.run();
    panel.dataset.width = panel.clientWidth;
  };

  const start = (figure) => {
    const { panels, views } = charts[figure.id];
    const hidden = new Set();
    const places = [...figure.querySelectorAll(".panel")];
    let view = 0;
    const redraw = () => places.forEach((panel, i) => draw(panel, without(merged(panels[i], views[view] || {}), hidden)));

    figure.querySelectorAll(".views input").forEach((input) => {
      if (input.checked) view = Number(input.value); // kept by the browser over a reload
      input.addEventListener("change", () => { view = Number(input.value); redraw(); });
    });
    figure.querySelectorAll(".legend button").forEach((button) => {
      button.addEventListener("click", () => {
        const { model } = button.dataset;
        if (!hidden.delete(model)) hidden.add(model);
        button.setAttribute("aria-pressed", String(!hidden.has(model)));
        redraw();
      });
    });
    redraw();
    let frame = 0;
    new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        if (places.some((panel) => panel.clientWidth && Number(panel.dataset.width) !== panel.clientWidth)) redraw();
      });
    }).observe(figure);
  };

  document.querySelectorAll("figure[id]").forEach(start);
})();
