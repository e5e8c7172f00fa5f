"""All mutations there are."""

from mutations.mutations import MUTATIONS as OF_THE_MERGER
from mutations.mutations_cache import OF_CACHE
from mutations.mutations_caps import OF_CAPS
from mutations.mutations_captured import OF_CAPTURES
from mutations.mutations_coarsen import OF_COARSENING
from mutations.mutations_code import OF_CODE
from mutations.mutations_ended import OF_ENDED
from mutations.mutations_estimates import OF_ESTIMATES
from mutations.mutations_folded import OF_FOLDED_GRIDS
from mutations.mutations_graphs import OF_GRAPHS
from mutations.mutations_independence import OF_INDEPENDENCE
from mutations.mutations_masks import OF_MASKS
from mutations.mutations_meld import OF_MELDING
from mutations.mutations_order import OF_ORDER
from mutations.mutations_region import OF_REGIONS
from mutations.mutations_sampled import OF_SAMPLED_RUNS
from mutations.mutations_several import OF_SEVERAL
from mutations.mutations_shapes import OF_SHAPES
from mutations.mutations_shared_inputs import OF_SHARED_INPUTS
from mutations.mutations_shared_state import OF_SHARED_STATE
from mutations.mutations_simplify import OF_SIMPLIFYING
from mutations.mutations_strategies import OF_STRATEGIES
from mutations.mutations_teams import OF_TEAMS
from mutations.mutations_vertical import OF_VERTICAL
from mutations.mutations_waiting import OF_WAITING
from mutations.mutations_windows import OF_WINDOWS

MUTATIONS = (
    *OF_THE_MERGER, *OF_WAITING, *OF_SHAPES, *OF_SEVERAL, *OF_INDEPENDENCE, *OF_CODE, *OF_STRATEGIES, *OF_COARSENING,
    *OF_VERTICAL, *OF_CACHE, *OF_REGIONS, *OF_ORDER, *OF_MASKS, *OF_SHARED_STATE, *OF_CAPTURES, *OF_SHARED_INPUTS,
    *OF_ENDED, *OF_WINDOWS, *OF_FOLDED_GRIDS, *OF_TEAMS, *OF_GRAPHS, *OF_SIMPLIFYING, *OF_MELDING, *OF_ESTIMATES,
    *OF_CAPS,
    *OF_SAMPLED_RUNS,
)  # fmt: skip
