"""Every private name of torch that the probe uses. No other file of the probe names one.

A private name may go with any version of torch. So a test looks up each of NAMES and ATTRIBUTES in the
torch at hand, and `ci/check_layers.py` refuses a private name in any other file.
"""

import operator

import torch
import torch.utils._python_dispatch

NAMES = {}  # by dotted name below torch: what it is there, None if this version has no such name


def found(name):
    """What has a dotted name below torch; None if nothing has."""
    value = torch
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def of_torch(name):
    NAMES[name] = value = found(name)
    return value


# Autograd.
current_graph_task_id = of_torch("_C._current_graph_task_id")  # -1 outside of a backward
current_node = of_torch("_C._current_autograd_node")
next_sequence_number = of_torch("autograd._get_sequence_nr")
set_grad_enabled = of_torch("_C._set_grad_enabled")

# The program's modes, which see the calls of a thread.
count_function_modes = of_torch("_C._len_torch_function_stack")
function_mode_at = of_torch("_C._get_function_stack_at")
count_dispatch_modes = of_torch("_C._len_torch_dispatch_stack")
dispatch_modes = of_torch("utils._python_dispatch._get_current_dispatch_mode_stack")
push_dispatch_mode = of_torch("utils._python_dispatch._push_mode")
disable_dispatch_modes = of_torch("utils._python_dispatch._disable_current_modes")
TorchDispatchMode = of_torch("utils._python_dispatch.TorchDispatchMode")
DisableTorchFunction = of_torch("_C.DisableTorchFunction")

# Compilation and tracing.
is_functorch_wrapped = of_torch("_C._functorch.is_functorch_wrapped_tensor")
tracing_state = of_torch("_C._get_tracing_state")  # None unless torch.jit.trace records
eval_frame = of_torch("_C._dynamo.eval_frame")
is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling  # since version 2.3

count_uses = of_torch("_C._storage_Use_Count")  # of the address of a storage: by tensors, and by Python's object of it

# Whole lists of tensors at once.
foreach_norm = of_torch("_foreach_norm")
foreach_sub_ = of_torch("_foreach_sub_")

# Classes.
ConvNd = of_torch("nn.modules.conv._ConvNd")
DropoutNd = of_torch("nn.modules.dropout._DropoutNd")
NormBase = of_torch("nn.modules.batchnorm._NormBase")
BatchNorm = of_torch("nn.modules.batchnorm._BatchNorm")
LoaderIterator = of_torch("utils.data.dataloader._BaseDataLoaderIter")
MapFetcher = of_torch("utils.data._utils.fetch._MapDatasetFetcher")

# Names that `replace` and `walking` take. ATTRIBUTES says who has them.
CALL = "_call_impl"
ANY_HOOK = "_has_any_global_hook"
HOOK_TABLES = ("_global_forward_hooks_with_kwargs", "_global_forward_hooks", "_global_forward_pre_hooks")
MODULES, PARAMETERS, BUFFERS, UNSAVED = "_modules", "_parameters", "_buffers", "_non_persistent_buffers_set"
TRACED = "_actual_script_module"  # of a traced module: the one that has the tables
RESET, NEXT_INDEX = "_reset", "_next_index"
SCALE, STEP_IF_FINITE = "_scale", "_maybe_opt_step"
STEP_COUNT, IS_INITIAL, LAST_LR = "_step_count", "_is_initial", "_last_lr"
PARTS, MILESTONES = "_schedulers", "_milestones"
PRE_FORWARD = "_pre_forward"
GRADIENT = "_grad"
COMPILER_COUNTERS = "torch._dynamo.utils"  # the module that has them, if torch.compile was ever called
FOREACH = "_foreach_"
SAVED = "_saved_"

# Owner: attributes that the probe asks it, or one that was built from it, for.
ATTRIBUTES = {
    "nn.Module": (CALL, MODULES, PARAMETERS, BUFFERS, UNSAVED),
    "nn.modules.module": (ANY_HOOK, *HOOK_TABLES),
    "utils.data.dataloader._BaseDataLoaderIter": (RESET, NEXT_INDEX, "_dataset", "_base_seed"),
    "amp.GradScaler": (SCALE, STEP_IF_FINITE),
    "optim.lr_scheduler.LRScheduler": (STEP_COUNT, IS_INITIAL, LAST_LR),
    "optim.lr_scheduler.SequentialLR": (PARTS, MILESTONES),
    "nn.parallel.DistributedDataParallel": (PRE_FORWARD, "_module_parameters"),
    "Tensor": ("_version", "_base", "_backward_hooks", "_post_accumulate_grad_hooks", "_values"),
    "UntypedStorage": ("_cdata",),
    "autograd.graph.Node": ("_sequence_nr", "_input_metadata"),
    "_ops.OpOverload": ("_schema",),
    "jit._state": ("_python_cu",),
}

version_of = operator.attrgetter("_version")  # how often a tensor was written to in place
address_of = operator.attrgetter("_cdata")  # of a storage
values_of = operator.methodcaller("_values")  # of a sparse tensor
schema_of = operator.attrgetter("_schema")  # of an operation
data_set_of = operator.attrgetter("_dataset")  # of an iterator of a loader
sequence_number_of = operator.methodcaller("_sequence_nr")  # of a node: later ones of a thread have larger ones
has_sequence_numbers = hasattr(torch.autograd.graph.Node, "_sequence_nr")


def saved(node, name, default=None):
    """What a node of a graph keeps for its backward under `name`; the default where that was freed, or written
    to since."""
    try:
        return getattr(node, SAVED + name, default)
    except RuntimeError:
        return default


def shapes_into(node):
    """The shapes of the gradients that a node takes; none in a version that does not say."""
    return [tuple(metadata.shape) for metadata in getattr(node, "_input_metadata", ())]


def base_of(tensor):
    """What a view is a view of; any other tensor itself."""
    return tensor if tensor._base is None else tensor._base


def has_alias(tensor):
    """Whether another tensor may have the storage of this one; true where that cannot be told."""
    return count_uses is None or count_uses(tensor.untyped_storage()._cdata) > 2


def hooks_of(leaf):
    """The hooks that the program hung on a tensor and on the accumulation of its gradient."""
    tables = (leaf._backward_hooks, getattr(leaf, "_post_accumulate_grad_hooks", None))
    return [hook for table in tables for hook in (table or {}).values()]


def is_flat_parameter(tensor):
    """True for the piece in which FullyShardedDataParallel keeps a part of several parameters."""
    return getattr(tensor, "_is_flat_param", False)


def parameters_of_replica(wrapper):
    """Those that DistributedDataParallel keeps alike; None for any other wrapper."""
    return getattr(wrapper, "_module_parameters", None)


def is_counted_step(step):
    """True for the stand-in by which a scheduler counts the steps of its optimizer."""
    return getattr(step, "_wrapped_by_lr_sched", False) or getattr(step, "_with_counter", False)


def has_step_hooks(optimizer):
    """Whether the program hung hooks on the steps of this optimizer."""
    names = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    return any(getattr(optimizer, name, None) for name in names)


def set_last_lr(scheduler, rates):
    scheduler._last_lr = rates


def base_seed_of(iterator):
    """What the generator of a loader gave first for this iteration; None in a version that keeps it nowhere."""
    return getattr(iterator, "_base_seed", None)


def has_script_functions():
    """Whether any function was compiled by TorchScript."""
    return bool(torch.jit._state._python_cu.get_functions())


def skipper_of_code():
    """What tells the compiler to pass over a code object; None in a version that has no such call."""
    if hasattr(eval_frame, "skip_code"):  # before version 2.7
        return eval_frame.skip_code
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        return None
    action = eval_frame._FrameAction
    strategy = eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT)
    return lambda code: eval_frame.set_code_exec_strategy(code, strategy)
