"""Epochs of buffalo's BPR, one after the other.

Every positive is visited once, the users in order, and the negative is drawn anew until the user has not seen it: as
many updates as positives. Its `train` looks ten times a second whether an epoch is done, which makes .2 s of .12.
Here some epochs are queued at once and the threads are joined, so that this wait does not count. Without a batch size
every user is a task, which is slower.
"""

from buffalo import BPRMF, BPRMFOption, MatrixMarketOptions

from serving import serve


def prepare(left, right, train, held):
    models = {}

    def started(factors, threads, folder, batch_size):
        options = BPRMFOption().get_default_option()
        options.update(d=factors, num_workers=threads, batch_size=batch_size, compute_loss_on_training=False)
        data = MatrixMarketOptions().get_default_option()
        data.input.main, data.data.validation = train, {}
        data.data.update(path=f"{folder}/buffalo-{batch_size}.h5py", tmp_dir=folder, batch_mb=64)
        model = BPRMF(options, data_opt=data)
        model.initialize()
        return model

    def several(model, count):
        model._prepare_train()
        for _ in range(count):
            model._iterate()
        model._finalize_train()
        return {"updates": int(model.num_nnz) / train.nnz, "epochs": count}

    def epochs(factors, threads, trained, folder, batch_size, count):
        if batch_size not in models:
            models[batch_size] = started(factors, threads, folder, batch_size)
            several(models[batch_size], trained)
        return lambda: several(models[batch_size], count)

    return epochs


if __name__ == "__main__":
    serve(prepare)
