# SPDX-License-Identifier: MIT
"""What there is for cross-entropy beside libstages.so: PyTorch's, as it comes and compiled, the kernels of
Liger-Kernel and of QuACK, and a sum of rows, which reads the logits once. And what a run times of them."""

import importlib

from contenders import Contender, Skipped
from torch_contenders import TorchContenders, TorchFunction

TIMED_OPERATIONS = ("cross_entropy", "cross_entropy_loss")
USUAL_DTYPES = ("float32", "bfloat16")

# What stands below a table of these.
LEGEND = """  GB/s: bytes of the logits and of the gradient over the median time, caches flushed. of copy
  (of read): share of the roof's speed, timed in turn. ours: how many times as long
  as our fastest above. Liger's and QuACK's kernels by themselves: their gradient is that
  of losses that count alike, and what grad_output makes of it is not timed."""


def why_not_timed(name, shape, _dtype, _shapes_given):
    """With class weights, something of PyTorch's waits for the GPU, which the clock refuses."""
    has_weights = dict(shape.options).get("class_weights", 0) != 0
    return "timed without class weights" if has_weights and name in CrossEntropyInTorch.NAMES else ""


def sources(options, _library):
    """Who takes part beside the library's own."""
    return [CrossEntropyInTorch(bool(options.shape))]


class CrossEntropyInTorch(TorchContenders):
    """Each computes a loss and a gradient. What else the operation gives (the logarithm of each row's sum, the losses
    of rows beside their mean) most do not: it is added where results are checked, not where they are timed."""

    PARTS = {"row_sum/torch": "row sum"}
    NAMES = (*TorchContenders.NAMES, "liger", "quack", *PARTS)

    def __init__(self, shapes_given=False):
        super().__init__(shapes_given)
        self.liger = self._find("Liger-Kernel", ("liger",), lambda: importlib.import_module(
            "liger_kernel.ops.cross_entropy"), Exception)
        self.quack = self._find("QuACK", ("quack",), lambda: importlib.import_module(
            "quack.cross_entropy"), Exception)  # of its own, or of the CuTe DSL's, which it needs

    def names(self, operation):
        names = super().names(operation)
        return names if operation == "cross_entropy_loss" else tuple(
            name for name in names if name not in self.PARTS)

    def functions(self):
        return {"cross_entropy": self._with_gradient, "cross_entropy_loss": self._loss_alone}

    def _loss_alone(self, problem):
        options = Options(problem)
        of = self.torch and self.torch.nn.functional

        def loss(logits, targets, weights=None):
            """In float32, whatever the logits' type, as training code has it."""
            x = options.capped(self.torch, logits)
            loss = of.cross_entropy(x, targets.long(), weights, ignore_index=options.ignore_index,
                                    reduction=options.reduction,
                                    label_smoothing=options.label_smoothing)
            if options.z_loss:
                counts = targets != options.ignore_index
                z = self.torch.where(counts, options.z_loss * self.torch.logsumexp(x, 1) ** 2, 0)
                loss = loss + (z if options.reduction == "none" else
                               z.sum() / (counts.sum() if options.reduction == "mean" else 1))
            return loss

        return TorchFunction(loss)

    def _with_gradient(self, problem):
        def around(loss_of):
            def loss_and_gradient(logits, targets, *more):
                *weights, grad_output = more
                x = logits.detach().requires_grad_()
                loss = loss_of(x, targets, *weights)
                gradient, = self.torch.autograd.grad(loss, x, grad_output.reshape(loss.shape))
                return loss.detach(), gradient

            return loss_and_gradient

        return TorchFunction(self._loss_alone(problem).call, around=around)

    def _liger(self, tensors, inputs, _outputs):
        """The kernel alone: the function around it waits for the GPU, to know how many rows count. The gradient comes
        to lie over a copy of the logits, which is made where results are checked."""
        torch, options = self.torch, Options(tensors.problem)
        logits, targets, *more = inputs
        rows, cols = logits.shape
        with_gradient = bool(more)
        scratch = logits.clone() if with_gradient else logits
        loss = torch.empty(rows, dtype=torch.float32, device="cuda")
        counted = int((targets != options.ignore_index).sum())
        block = min(self.liger.MAX_FUSED_SIZE, 1 << (cols - 1).bit_length())

        def run(_):
            self.liger.liger_cross_entropy_kernel[(rows,)](
                X_ptr=scratch, X_stride=cols, Y_ptr=targets, Y_stride=1, weight_ptr=None,
                loss_ptr=loss, z_loss_ptr=None, loss_stride=1, token_accuracy_ptr=None,
                token_accuracy_stride=0, predicted_tokens_ptr=None, predicted_tokens_stride=0,
                n_cols=cols, n_non_ignore=counted, sum_non_ignore_weight=counted,
                ignore_index=options.ignore_index, weight_sum=0.0,
                lse_square_scale=options.z_loss, label_smoothing=options.label_smoothing,
                reduction=options.reduction, softcap=options.soft_cap or None,
                RETURN_Z_LOSS=False, RETURN_TOKEN_ACCURACY=False, RETURN_PREDICTED_TOKENS=False,
                BLOCK_SIZE=block, HAS_WEIGHT=False, HAS_SOFTCAPPING=options.soft_cap > 0,
                HAS_GRADIENTS=with_gradient, num_warps=32)

        def produce():
            if with_gradient:
                scratch.copy_(logits)
            loss.fill_(float("nan"))
            run(None)

        def result():
            return self._addresses(tensors, (loss, scratch * more[0].reshape(-1, 1).to(scratch.dtype))
                                   if with_gradient else (loss,))

        return Contender("liger", "peer", "", tensors.operation.name, run, produce=produce,
                         result=result)

    def _quack(self, tensors, inputs, _outputs):
        options = Options(tensors.problem)
        logits, targets, *more = inputs
        if options.reduction != "none" or options.label_smoothing or options.z_loss or options.soft_cap:
            raise Skipped("has neither reduction nor label smoothing, z-loss or soft cap")
        weights = more[0] if options.class_weights else None
        with_gradient = tensors.operation.name == "cross_entropy"

        def losses(*_):
            return self.quack.cross_entropy_fwd(logits, targets, weight=weights,
                                                ignore_index=options.ignore_index, return_lse=True,
                                                return_dx=with_gradient)

        contender = self._contender("quack", losses, tensors, inputs)
        kept = [None]

        def produce():
            self._poison_what_is_free(tensors)
            kept[0] = losses()

        def result():
            loss, _, *gradient = kept[0]
            return self._addresses(tensors, (loss, *(each * more[-1].reshape(-1, 1).to(each.dtype)
                                                     for each in gradient)))

        contender.produce, contender.result = produce, result
        return contender

    def _row_sum_torch(self, tensors, inputs, _outputs):
        contender = self._contender("row_sum/torch", lambda logits, *_: logits.sum(1), tensors, inputs)
        contender.role, contender.part = "part", self.PARTS["row_sum/torch"]
        return contender

    def _addresses(self, tensors, results):
        """Of a loss and, where there is one, a gradient; with what the operation gives besides."""
        torch, options = self.torch, Options(tensors.problem)
        results = results if isinstance(results, tuple) else (results,)
        loss, *gradient = results
        memory = {**tensors.memory, **tensors.before}
        read = {each.name: self._tensor(memory[each.name], each) for each in tensors.inputs()}
        x = options.capped(torch, read["logits"])
        targets, weights = read["targets"].long(), read.get("class_weights")
        outputs = {"loss": loss, "lse": torch.logsumexp(x, 1)}
        if options.reduction != "none":
            counts = targets != options.ignore_index
            of_rows = torch.ones_like(x[:, 0]) if weights is None else weights[targets.clamp(min=0)]
            weight = torch.where(counts, of_rows, 0).sum()
            share = 1 / weight if options.reduction == "mean" else 1
            if loss.dim() == 1:  # a row's, as the operation has them
                total = loss.sum()
            else:
                total = loss
                outputs["loss"] = share * self._losses_of_rows(options, x, targets, weights, weight)
            outputs["totals"] = torch.stack([total.to(x.dtype), weight, counts.sum().to(x.dtype)])
        if gradient:
            outputs["gradient"] = gradient[0]
        self.kept = outputs
        return super()._addresses(tensors, tuple(outputs[each.name] for each in tensors.outputs()))

    def _losses_of_rows(self, options, x, targets, weights, weight):
        """Before they are divided by the rows' weight."""
        losses = self.torch.nn.functional.cross_entropy(
            x, targets, weights, ignore_index=options.ignore_index, reduction="none",
            label_smoothing=options.label_smoothing)
        counts = targets != options.ignore_index
        per_row = weight / counts.sum() if options.reduction == "mean" else 1
        z = options.z_loss * per_row * self.torch.logsumexp(x, 1) ** 2
        return losses + self.torch.where(counts, z, 0)


class Options:
    """Of a problem, as common/operations/cross_entropy has them."""

    def __init__(self, problem):
        given = problem.options
        self.ignore_index = int(given.get("ignore_index", -100))
        self.label_smoothing = given.get("label_smoothing", 0.0)
        self.z_loss, self.soft_cap = given.get("z_loss", 0.0), given.get("soft_cap", 0.0)
        self.class_weights = bool(given.get("class_weights", 0))
        self.reduction = "mean" if given.get("mean") else "sum" if given.get("sum") else "none"

    def capped(self, torch, logits):
        """The logits in the type of sums, after the soft cap."""
        x = logits if logits.dtype == torch.float64 else logits.float()
        return self.soft_cap * torch.tanh(x / self.soft_cap) if self.soft_cap else x
