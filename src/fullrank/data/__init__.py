"""What people did: ids, interactions, events, graded cases, preferences; reading and writing them."""

from fullrank.data.attributes import Attributes
from fullrank.data.classes import relevance_classes
from fullrank.data.describe import describe
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback, as_graded, as_interactions, kind_of
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.outside import OutsideLists
from fullrank.data.preferences import Preferences
from fullrank.data.read import read, read_events, read_preferences, read_sessions
from fullrank.data.read_attributes import read_attributes
from fullrank.data.read_ids import read_ids
from fullrank.data.read_lists import read_lists
from fullrank.data.write import write

__all__ = [
    "Attributes",
    "Events",
    "Feedback",
    "Graded",
    "Ids",
    "Intake",
    "Interactions",
    "OutsideLists",
    "Preferences",
    "as_graded",
    "as_interactions",
    "describe",
    "kind_of",
    "read",
    "read_attributes",
    "read_events",
    "read_ids",
    "read_lists",
    "read_preferences",
    "read_sessions",
    "relevance_classes",
    "write",
]
