"""Why a verdict is what it is: a stable code with its values, and the sentence it makes.

The report says the same in other languages, from code and values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Value = float | int | str


@dataclass(frozen=True)
class Reason:
    """One reason."""

    code: str
    """A key of `SENTENCES`."""
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The reason in English."""
        return say(self, SENTENCES, number)


def reason(code: str, **values: Value) -> Reason:
    """A reason; KeyError for a code that nothing says."""
    return Reason(code, {name: values[name] for name in fields_of(SENTENCES[code])})


def fields_of(sentence: str) -> list[str]:
    """Names of the values that a sentence holds, each once."""
    names = [piece.partition("}")[0] for piece in sentence.split("{")[1:]]
    return list(dict.fromkeys(names))


def say(told: Reason, sentences: Mapping[str, str], show: Callable[[str, Value], str]) -> str:
    """The sentence of a reason, each value shown by `show(name, value)`."""
    return sentences[told.code].format(**{name: show(name, value) for name, value in told.values.items()})


def number(name: str, value: Value) -> str:
    """A value in English: shares as percent, differences of shares as points, others with four digits."""
    if not isinstance(value, float):
        return str(value)
    if name.endswith("_points"):
        return f"{100 * value:.1f} points"
    return f"{100 * value:.1f} %" if name.endswith("_share") else f"{value:.4g}"


SENTENCES = {
    "threshold_missed": "The estimate {estimate} misses the threshold {threshold}.",
    "threshold_not_shown": "The estimate {estimate} meets the threshold {threshold}, the bound {bound} does not: "
    "with {families} independent cases that may be luck.",
    "worse_than_margin": "Shown to be worse than the baseline by more than the margin {margin_points}: "
    "the difference is {difference_points}, {worse} cases got worse and {better} better.",
    "margin_not_shown": "Not shown either way. With {cases} cases ({worse} worse, {better} better) the candidate may "
    "be up to {loss_points} worse; allowed are {margin_points}.",
    "cases_needed": "If candidate and baseline were truly equal and cases keep differing at the present rate "
    "({rate_share}), about {total} cases in total ({more} more of the same kind) would give an 80 % chance of a pass. "
    "This is a planning number, not a promise; adding cases to this set and testing again is a second look and is "
    "counted as one.",
    "cases_enough": "If candidate and baseline were truly equal, the {cases} cases at hand already gave an 80 % chance "
    "of a pass.",
    "no_cases_suffice": "If the observed difference is the true one, no number of cases leads to a pass.",
    "ratio_above_margin": "Shown to be dearer or slower than the baseline by more than the margin {margin_share}: "
    "typically {ratio} times the baseline.",
    "ratio_not_shown": "Not shown either way: typically {ratio} times the baseline, it may be up to {upper} times; "
    "allowed are {margin_share} more.",
    "tail_worse": "More cases than with the baseline lie above the limit {limit}: {candidate} against {baseline} of "
    "{cases}.",
    "tail_not_shown": "Not shown that no more cases than with the baseline lie above the limit {limit}: {candidate} "
    "against {baseline} of {cases}.",
    "missing_decides": "Missing results decide: counted against the candidate the verdict is {worst}, over the "
    "complete cases alone {complete}.",
    "missing_too_many": "{missing} of {planned} results of the {side} are missing or failed, that is {missing_share}; "
    "allowed are {allowed_share}.",
    "missing_differs": "Results are missing more often on one side ({candidate} of the candidate, {baseline} of the "
    "baseline) than chance explains.",
    "too_few_cases": "Even if nothing got worse, a margin of {margin_points} takes {needed} cases; there are {cases}.",
    "too_few_families": "There are {families} independent families of cases; at least {needed} are needed.",
    "degenerate": "The interval has no width, and from that nothing follows.",
    "judge_unfit": "The scorer judges, and may not gate: {why}.",
    "critical_worse": "The criterion is critical, and the candidate is worse than the baseline by {loss_points}.",
    "critical_dearer": "The criterion is critical, and the candidate takes {ratio} times what the baseline does.",
    "critical_case": "The critical case {case} passed {passed} of {repetitions} times on {criterion}; it passed "
    "{baseline} of {repetitions} times with the baseline.",
    "critical_unjudged": "No criterion that must hold on critical cases judges the critical case {case}: "
    "nothing is known of it.",
    "known_failing": "The critical case {case} fails on {criterion} as it did with the baseline; {by} allows that "
    "until {until}: {why}",
    "exception_expired": "The exception of {by} for the critical case {case} on {criterion} ended on {until}.",
    "slice_not_passed": "The required slice {slice} is {verdict} on {criterion}.",
    "attempts_used_up": "This is attempt {attempt} at these cases; after {ceiling} they say nothing any more: take new "
    "cases in.",
    "repeated_look": "Repeated look, level not controlled: an earlier run did not pass, and the policy declares no "
    "further looks.",
    "looks_used_up": "This is look {look} of {looks} declared ones.",
    "baseline_old": "The baseline was measured {days} days apart from the candidate; allowed are {allowed}: run it "
    "again.",
    "selected_again": "Some cases of the {side} were answered afresh and others not: choosing which ones to repeat "
    "chooses the result. Run all of them again.",
    "superiority_not_shown": "The policy asks for a better result on {criterion}, which is not shown (p = {p}).",
    "hidden_missing": "The policy asks for a hidden set, and none was given: --hidden DIR.",
    "hidden_not_passed": "The hidden set is {verdict}.",
}
