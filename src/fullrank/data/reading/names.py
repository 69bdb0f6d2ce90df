"""What columns are usually called, and what a name says of what is in them.

Names are compared without case and punctuation (`plain`). Where a file has several candidates the first in these lists
is taken: an id before a name, a moment before a day, a rating before a count. Money is in none of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullrank.data.interactions import Meaning

REMARK = re.compile(r"[:,(\[]")

RATINGS = (
    "rating", "ratings", "stars", "star", "starrating", "userrating", "ratingvalue", "bookrating", "overall",
    "overallrating", "reviewscore", "reviewrating", "reviewoverall", "score", "userscore", "grade", "grades",
)  # fmt: skip
COUNTS = (
    "count", "counts", "playcount", "plays", "listencount", "listens", "viewcount", "views", "clickcount", "clicks",
    "visitcount", "visits", "quantity", "qty", "orderqty", "units", "unitssold", "frequency", "freq", "amount",
    "minutes", "minuteswatched", "hours", "hoursplayed", "watchtime", "playtime", "weight",
)  # fmt: skip

USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "user": (
        "userid", "uid", "customerid", "clientid", "shopperid", "buyerid", "accountid", "memberid",
        "householdid", "householdkey", "panelistid", "subscriberid", "visitorid", "reviewerid", "listenerid",
        "readerid", "personid", "user", "customer", "client", "shopper", "buyer", "account", "member", "household",
        "panelist", "subscriber", "visitor", "reviewer", "listener", "reader", "person", "username", "usercode",
        "customercode", "customernumber", "customerno",
    ),
    "item": (
        "itemid", "iid", "productid", "articleid", "movieid", "trackid", "songid", "videoid", "bookid",
        "recipeid", "businessid", "listingid", "propertyid", "gameid", "appid", "contentid", "newsid", "documentid",
        "docid", "titleid", "showid", "episodeid", "albumid", "artistid", "animeid", "placeid", "poiid", "venueid",
        "locationid", "materialid", "goodsid", "sku", "skuid", "asin", "parentasin", "upc", "ean", "gtin", "barcode",
        "isbn", "stockcode", "productcode", "itemcode", "articlecode", "articlenumber", "item", "product", "article",
        "goods", "material", "movie", "track", "song", "video", "book", "recipe", "business", "listing", "property",
        "game", "app", "content", "news", "document", "show", "episode", "album", "artist", "anime", "place", "poi",
        "venue",
    ),
    "value": ("value", *RATINGS, *COUNTS, "watchratio"),
    "time": (
        "timestamp", "ts", "datetime", "eventtimestamp", "eventtime", "unixreviewtime", "unixtime", "time", "createdat",
        "created", "transactiondt", "transactiondate", "transactiontime", "orderdate", "ordertime", "purchasedate",
        "purchasetime", "invoicedate", "transdate", "tdat", "date", "reviewdate", "reviewtime", "visitdate", "day",
        "updatedat", "updated",
    ),
    "session": (
        "session", "sessionid", "case", "query", "queryid", "impression", "impressionid", "basket", "basketid",
        "orderid", "invoiceno", "invoiceid", "transactionid", "visitid",
    ),
    "grade": ("grade", "relevance", "class", "level", "value", "rating"),
    "action": ("action", "event", "eventtype", "feedback"),
    "rank": ("rank", "ranks", "position", "pos", "place", "order"),
    "score": (
        "score", "scores", "prediction", "predictions", "predicted", "pred", "similarity", "relevance", "estimate",
        "est", "rating", "value", "weight",
    ),
    "better": ("better", "preferred", "winner", "chosen", "over"),
    "worse": ("worse", "other", "loser", "rejected", "under"),
}  # fmt: skip

TITLES = (
    "title", "name", "label", "itemname", "productname", "itemtitle", "producttitle", "movietitle", "booktitle",
    "articlename", "trackname", "songname", "artistname", "username", "description", "productdescription",
    "itemdescription",
)  # fmt: skip
TIME_WORDS = ("time", "date", "stamp", "day")  # in the name of a column, if numbers in it are to look like times
VALUE_WORDS = ("rating", "stars", "score", "grade", "quantity", "qty", "count", "plays", "views", "clicks")
MONEY_WORDS = ("price", "cost", "revenue", "total", "sales", "tax", "discount", "fee")


def plain(name: str) -> str:
    """A column name for comparison: User_ID and userId are one; what follows a colon, comma or bracket is a remark.

    >>> plain("User_ID"), plain("userId:token"), plain("Rating (1-5)")
    ('userid', 'userid', 'rating')
    """
    return "".join(c for c in REMARK.split(name, maxsplit=1)[0].lower() if c.isalnum())


def meaning_of(name: str) -> Meaning | None:
    """What the values of a column of this name are; None where it says nothing.

    >>> meaning_of("Play_Count"), meaning_of("stars"), meaning_of("value")
    ('events', 'ratings', None)
    """
    return "events" if plain(name) in COUNTS else "ratings" if plain(name) in RATINGS else None
