"""Every English sentence of the page *Attention lab*."""

from __future__ import annotations

from typing import Final

LAB: Final = "Attention lab"
LEDE: Final = "What a Transformer does when it attends, one step after another, with every number"

WHAT: Final = "Look at"
SENTENCE: Final = "Sentence"
MUSIC: Final = "Music"
PRINTED: Final = "Book"
KINDS: Final = {"sentence": SENTENCE, "music": MUSIC, "printed": PRINTED}

YOUR_SENTENCE: Final = "Your sentence"
SENTENCE_HELP: Final = "Up to 12 words and marks, 80 characters."
CUT: Final = "The first {most} of {n} words and marks are used."
DEFAULT_SENTENCE: Final = "How are you?"
D_MODEL: Final = "d_model"
D_MODEL_HELP: Final = (
    "How many numbers stand for a word. The text behind this project has 256, with 8 heads; with "
    "few of them you see them all."
)
N_HEADS: Final = "Heads"
N_HEADS_HELP: Final = "Each head works on its own share of the numbers: d_model ÷ heads."
SEED: Final = "Seed of the random weights"
PIECE: Final = "Piece"
FROM: Final = "From second"
EVENTS: Final = "Events"
LAYER: Final = "Layer"
HEAD: Final = "Head shown"
MASK: Final = "Causal mask"
MASK_HELP: Final = "Switch it off to see how much weight goes to what comes later."
UNTRAINED: Final = (
    "The weights are drawn at random and not trained: the numbers show how attention computes, not "
    "what words mean."
)
TRAINED: Final = "The weights are those of the model that made or would go on with this music."
READS_ALONE: Final = "It reads these events and nothing before them."
WHOLE: Final = "Read what came before, too"
WHOLE_HELP: Final = (
    "As on Create, where the model reads the whole piece: the numbers are the same then. Without, "
    "it reads the shown events alone, and every number that it computes with is on the page."
)
PRINTED_ABOUT: Final = (
    "What the book behind this project prints (M. Liu, Learn Generative AI with PyTorch): four "
    "random vectors of 1,600 numbers and 25 heads of 64, as in GPT-2 XL, seed 42. It prints the "
    "scores and weights of its head 0, here head 1, so you can hold these numbers against them."
)
ABOUT: Final = {
    "sentence": f"Your own words. {UNTRAINED}",
    "music": f"A few events of a piece. {TRAINED}",
    "printed": "The example that M. Liu's “Learn Generative AI with PyTorch” prints, from which "
    "this project starts: numbers to hold against the page.",
}
NO_PIECE: Final = "There is no piece to look at yet: make one on the page Create."

COMPONENT: Final = {
    "steps": "Steps",
    "previous": "Previous",
    "next": "Next",
    "keys": "n and p go a step on and back. In a table the arrow keys choose a number.",
    "ask": "Choose a number to see what made it.",
    "heads": "All heads: a press shows one",
    "headsHelp": "Each square is a head's weights: rows look at columns.",
    "head": "Head {head}",
    "shapes": "Shapes",
    "step": "Step {step} of {steps}: {title}",
    "masked": "masked",
    "future": "later, leaks",
    "legendMasked": "masked: a later token",
    "legendFuture": "a later token that leaks in",
    "legendSigned": "colour: how large, on either side of 0",
    "legendWeight": "colour: share of the row",
}

# What a step is called: short for its button, long above it.
STEPS: Final = {
    "tokens": ("Tokens", "What is read"),
    "embed": ("Vectors", "Embedding and position"),
    "qkv": ("Q, K, V", "Query, key and value"),
    "turn": ("Turn", "Position turns queries and keys"),
    "scores": ("Scores", "Scores ÷ √d"),
    "mask": ("Mask", "The causal mask"),
    "weights": ("Softmax", "Softmax: scores become weights"),
    "gather": ("Gather", "Weighted values"),
    "join": ("Rejoin", "Heads rejoined"),
}

_WHAT_FOR: Final = (
    "Attention then settles for each of them which of those before it matter, and how much. A head "
    "is one such look back; the heads of a layer look for different things at once, and the next "
    "layer looks again, knowing what they found."
)
TEXT_TOKENS: Final = {
    "sentence": (
        "A model reads numbers, so the sentence is first cut into tokens: words and marks, in "
        f"small letters. Each has its place, counted from 0. {_WHAT_FOR}"
    ),
    "music": (
        "Music is read as events, as a sentence is read as words. One event is a note or a rest: "
        "how long after the one before, which key, how loud, how long. A start event comes first. "
        f"{_WHAT_FOR}"
    ),
    "printed": (
        "The example has no words: four vectors of 1,600 random numbers stand for four tokens that "
        "have come through embedding and position already."
    ),
}
TEXT_EMBED: Final = {
    "sentence": (
        "Each word has a vector of its own, its embedding. It is scaled by √d_model, and a pattern "
        "of sines and cosines is added that tells where the word stands: without it, attention "
        "would not know the order."
    ),
    "music": (
        "Each of the four attributes of an event has an embedding; their sum stands for the event. "
        "What comes to this layer is brought to one size by a norm. Position is not added here: "
        "this model tells it by turning queries and keys, two steps on."
    ),
}
FIRST_LAYER: Final = "To the first layer comes that sum, normed."
LATER_LAYER: Final = "To layer {layer} comes that sum with what {before} before it added."
TEXT_QKV: Final = (
    "Three matrices make three vectors of each token: the query says what it looks for, the key "
    "what it can be found by, the value what it hands over. Each head has its own share of the "
    "columns; this is head {head}."
)
TEXT_TURN: Final = (
    "Queries and keys are normed a head (QK norm), then each pair of dimensions is turned by an "
    "angle that grows with the position (RoPE). So a score depends on how far apart two events "
    "are. The values are not turned."
)
TEXT_SCORES: Final = (
    "Each query meets each key: the sum of the products of their numbers, large where the two "
    "agree. Divided by √d, it keeps its size however wide a head is. Rows look at columns."
)
TEXT_MASK: Final = {
    True: (
        "What comes next is to be predicted from what came before, so no token may look at a later "
        "one. Those scores become −∞, and their weight will be 0."
    ),
    False: (
        "The mask is switched off: the hatched scores belong to later tokens, and they count. "
        "Where the next token is to be predicted, the answer lies open among them."
    ),
}
TEXT_WEIGHTS: Final = (
    "Each row goes through softmax: e to the power of each score, divided by the row's sum. Now "
    "the numbers of a row are shares that sum to 1: how much the token gathers from where."
)
TEXT_GATHER: Final = (
    "What a token gathers is the sum of the values, each by its weight. Where one weight is near "
    "1, the row is nearly that token's value."
)
TEXT_JOIN: Final = (
    "The heads' results are set side by side again: {heads} times {d_head} columns are {d_model}."
)
TEXT_OUT: Final = (
    "One more matrix mixes them, and the result is added to what came to the layer. The next layer "
    "reads that sum."
)
TEXT_END: Final = (
    "The printed example ends here, at (4, 1600). In GPT-2 one more matrix mixes the heads, and "
    "this is one of 48 layers."
)
AS_PRINTED: Final = "This is head 0 of the text: these are its printed figures, digit for digit."

LEAK: Final = (
    "{share} of this head's weight lies on later tokens; most of it in the row of {token}: {most}."
)
POINTED: Final = (
    "In the row of {row}, marked below, from which the event after it is chosen, head {head} gives "
    "{column} {share} of its attention, {verdict}."
)
SAME: Final = "as on Create"
NOT_SAME: Final = "since the mask is off: on Create it is on"
NO_LEAK: Final = "With the mask, no weight lies on later tokens."
BITS: Final = (
    "What that does to predictions, measured on the events that the model reads, with no mask in "
    "any layer: it needs {open} bits for each next event instead of {masked}, {verdict}."
)
CHEATS: Final = (
    "though it never met a future in training. That is no better model, for when it makes music "
    "there is no future to read"
)
CONFUSED: Final = "for it never met a future in training and cannot make sense of it"
DICE: Final = (
    "A model trained without a mask learns to read the answer. Tried on throws of a die with eight "
    "sides, which have 3 bits each: with a mask it needs 3.0 bits, without one 0.0; and where it "
    "then has to go on by itself, with no future to read, about 32 bits, far worse than guessing."
)

# What is multiplied and summed up, by dimension or by token.
FACTORS: Final = {
    "q": "X × W_Q, by dimension of X",
    "k": "X × W_K, by dimension of X",
    "v": "X × W_V, by dimension of X",
    "scores": "Q × K, by dimension",
    "gather": "weight × value, by token",
    "out": "Z × W_O, by head and dimension",
}
EMBEDDING: Final = "Embedding E"
POSITION: Final = "Position P"
INPUT: Final = "X = √{d_model} · E + P"
SUMMED: Final = "Sum of the embeddings"
NORMED: Final = "X, as it comes into layer {layer}"
GIVEN: Final = "X, as drawn"
WORDS: Final = "In order"
TOKEN: Final = "token"
EVENT: Final = "event"
Q, K, V = "Query Q", "Key K", "Value V"
QUERY: Final = {"q": Q, "k": K, "v": V}
TURNED: Final = {"q": "Query, normed and turned", "k": "Key, normed and turned"}
SCORES: Final = "Scores"
MASKED: Final = "Scores after the mask"
OPEN: Final = "Scores without a mask"
WEIGHTS: Final = "Weights"
GATHERED: Final = "Gathered: weights · V"
JOINED: Final = "Z: heads side by side"
OUT: Final = "Mixed by the last matrix"


def number(value: float, digits: int = 4) -> str:
    """Say a number with a proper minus, and no −0."""
    said = f"{value:.{digits}f}"
    return said.replace("-", "−") if float(said) else f"{0:.{digits}f}"


def percent(share: float) -> str:
    """Say a share."""
    return f"{100 * share:.0f}%"


def quoted(token: str) -> str:
    """Set a token off from the words around it."""
    return f"“{token}”"


def cut(n: int, most: int) -> str:
    """Say how much of a sentence is used; "" for all of it."""
    return CUT.format(most=most, n=n) if n > most else ""


def reads_others(n_read: int, n_shown: int) -> str:
    """Say what the model reads, where that is more than is shown."""
    return (
        f"It reads {n_read:,} events, of which {n_shown} are shown; what it computes of the others "
        "comes in sums."
    )


def alone(count: int) -> str:
    """Say why these shares are not those of the whole piece."""
    return (
        f"The model reads these {count} events alone, so a row's shares are other ones than on "
        "Create, where it reads the whole piece. “Read what came before, too” makes them the same."
    )


def n_others(count: int) -> str:
    """Call the events that are not shown."""
    return "1 other" if count == 1 else f"{count:,} others"


def others_gave(count: int, value: float) -> str:
    """Say what the events that are not shown add to a number."""
    return f"+ {number(value)} from {n_others(count)}, which are not shown"


def columns_shown(shown: int, whole: int) -> str:
    """Say how much of a table is on screen."""
    return "" if shown == whole else f"{shown} of {whole:,} columns"


def named(token: str, place: int) -> str:
    """Tell a token from another of the same name."""
    return f"{token} ({place})"


def layers_before(number: int) -> str:
    """Say how many layers come before one."""
    return "the layer" if number == 1 else f"the {number} layers"


def others(count: int, total: float) -> str:
    """Say what the products come to that are not named."""
    return f"{count:,} more products, together {number(total)}"


def equals(*parts: str) -> str:
    """Set an equation."""
    return " = ".join(parts)
