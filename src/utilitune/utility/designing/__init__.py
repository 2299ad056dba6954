"""Finding out what an answer is worth to somebody who has never written down a utility function.

There are three ways, and all of them end in a `Utility` with a text to paste. ``situations`` understands
plain words ("useless after 10 minutes, 0.05 per hour"). ``gambles`` asks a few questions, each a sure time
against a gamble between two times. Points on a curve are the third. ``fitting`` finds the family that agrees
best with answers or points, and says how well. Nothing here reads or writes anything.
"""

from utilitune.utility.designing.fitting import Fit, fit_answers, fit_points
from utilitune.utility.designing.gambles import Answer, Gamble, Interview, Question, parse_answer
from utilitune.utility.designing.handles import handles_of, line_to_paste, shown_range_s
from utilitune.utility.designing.situations import SITUATIONS, Said, Situation, understand

__all__ = [
    "SITUATIONS",
    "Answer",
    "Fit",
    "Gamble",
    "Interview",
    "Question",
    "Said",
    "Situation",
    "fit_answers",
    "fit_points",
    "handles_of",
    "line_to_paste",
    "parse_answer",
    "shown_range_s",
    "understand",
]
