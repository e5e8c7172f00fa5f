"""All mutations there are."""

from mutations.mutations import MUTATIONS as OF_THE_MERGER
from mutations.mutations_independence import OF_INDEPENDENCE
from mutations.mutations_shapes import OF_SHAPES

MUTATIONS = (*OF_THE_MERGER, *OF_SHAPES, *OF_INDEPENDENCE)
