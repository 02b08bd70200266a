"""Random functions of whole tensors: what is fused against the same operation by operation.

usage: random_functions.py TILEC [--count N] [--seed S] [--device cpu|emu|cuda] [--as-built]
           [--other-cuts N] [--print]

Writes N functions with tests over random sizes into one file and runs it. Functions that
fail are printed, each with the seed that makes it alone (`--count 1 --seed S --print`).
Values stay between about -10 and 10 and away from where rounding decides, so that results
differ by rounding only.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HEAD = """import tile
import triton.language as tl

"""
SIZES = [1, 2, 3, 5, 8, 16, 17, 33, 64, 70, 129]


def broadcast(a, b):
    """The shape that two broadcast to; None if they do not."""
    out = []
    for i in range(1, max(len(a), len(b)) + 1):
        x = a[-i] if i <= len(a) else "1"
        y = b[-i] if i <= len(b) else "1"
        if x != y and "1" not in (x, y):
            return None
        out.insert(0, y if x == "1" else x)
    return tuple(out)


class Function:
    """One function, statement by statement; `values` are names with their shapes."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.name = f"f{seed}"
        self.lines, self.values = [], []
        shapes = [("M", "N"), ("M", "1"), ("N",), ("1",), ("B", "M", "N"), ("B", "1", "N"), ("N", "M"),
                  ("1", "N"), ("N", "1"), ("1", "1"), ("M",), ("N", "N"), ("M", "B", "N"), ()]
        self.parameters = [("x", ("M", "N"))]
        for i in range(self.rng.randint(0, 3)):
            self.parameters.append((f"p{i}", self.rng.choice(shapes)))
        self.values = list(self.parameters)
        for _ in range(self.rng.randint(2, 14)):
            self.grow()
        made = self.values[len(self.parameters):] or self.values[:1]
        self.results = self.rng.sample(made, min(len(made), self.rng.randint(1, 3)))
        if made[-1] not in self.results:
            self.results.append(made[-1])
        self.updates = []
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            self.update()

    def add(self, text, shape):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.values.append((name, shape))

    def pick(self):
        late = self.values[-4:]
        return self.rng.choice(late if self.rng.random() < 0.7 else self.values)

    def grow(self):
        self.rng.choice([self.unary, self.unary, self.binary, self.binary, self.binary, self.select,
                         self.reduce, self.reduce, self.normalise, self.view, self.multiply, self.move,
                         self.attend, self.scan, self.write, self.named, self.named, self.order, self.contract,
                         self.reshape, self.take_twice])()

    def unary(self):
        x, shape = self.pick()
        form = self.rng.choice(["tile.tanh({})", "tile.sigmoid({})", "tile.relu({})", "tile.silu({})",
                                "tile.gelu({})", "tile.abs({})", "-{}", "tile.exp(tile.tanh({}))",
                                "tile.tanh({}) ** 2", "tile.sqrt(tile.abs({}) + 0.1)",
                                "tile.clamp({}, -2, 2)", "tile.log(1.0 + tile.abs({}))",
                                "({} + 1) * 0.5", "tile.sin({})", "2 - {}"])
        self.add(form.format(x), shape)

    def binary(self):
        for _ in range(10):
            (x, a), (y, b) = self.pick(), self.rng.choice(self.values)
            shape = broadcast(a, b)
            if shape and len(shape) <= 3:
                break
        else:
            return
        form = self.rng.choice(["{} + {}", "{} - {}", "tile.maximum({}, {})", "tile.minimum({}, {})",
                                "tile.tanh({}) * {}", "{} / (1.0 + tile.abs({}))"])
        self.add(f"tile.clamp({form.format(x, y)}, -8, 8)", shape)

    def select(self):
        """Only parameters are compared: of them nothing has been rounded."""
        p, a = self.rng.choice(self.parameters)
        (x, b), (y, c) = self.pick(), self.rng.choice(self.values)
        shape = broadcast(a, b)
        shape = shape and broadcast(shape, c)
        if shape:
            self.add(f"tile.where({p} > {self.rng.choice(['0', '0.5', '-1'])}, {x}, {y})", shape)

    def reduce(self):
        x, shape = self.pick()
        if not shape:
            return
        axes = sorted(self.rng.sample(range(len(shape)), self.rng.choice([1, 1, 1, len(shape)])))
        keep = self.rng.random() < 0.7
        left = tuple("1" if i in axes else s for i, s in enumerate(shape) if keep or i not in axes)
        which = self.rng.choice(["mean", "max", "min", "sum", "var"])
        axis = axes[0] if len(axes) == 1 else tuple(axes)
        text = f"{x}.{which}(axis={axis}, keepdim={keep})"
        self.add(f"{text} * 0.01" if which == "sum" else text, left)

    def normalise(self):
        x, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        form = self.rng.choice([f"tile.softmax({x}, axis={axis})",
                                f"tile.layer_norm({x}, eps=0.5, axis={axis})",
                                f"tile.rms_norm({x}, eps=0.5, axis={axis})"])
        self.add(form, shape)

    def multiply(self):
        x, a = self.pick()
        for y, b in self.rng.sample(self.values, len(self.values)):
            for text, c in ((y, b), (f"{y}.transpose(-1, -2)", b[:-2] + b[:-3:-1])):
                if len(a) < 2 or len(b) < 2 or c[-2] != a[-1]:
                    continue
                batch = broadcast(a[:-2], c[:-2])
                if batch is not None:
                    self.add(f"tile.clamp(({x} @ {text}) * 0.05, -8, 8)", batch + (a[-2], c[-1]))
                    return

    def attend(self):
        """A softmax between two products, of scores that places or arrays may mask; sometimes
        somebody else wants it as well."""
        x, a = self.pick()
        for y, b in self.rng.sample(self.values, len(self.values)):
            if len(a) < 2 or len(b) < 2 or a[-1] != b[-1] or a[-1] == "1" or b[-2] == "1":
                continue
            batch = broadcast(a[:-2], b[:-2])
            if batch is None:
                continue
            z, c = self.rng.choice([(z, c) for z, c in self.values if len(c) >= 2 and c[-2] == b[-2]])
            whole = broadcast(batch, c[:-2])
            if whole is None:
                continue
            scores = f"{x} @ {y}.transpose(-1, -2) * {self.rng.choice([0.1, 0.3, -0.2])}"
            if self.rng.random() < 0.3:
                scores = f"tile.tanh({scores}) * 3"
            if self.rng.random() < 0.5:  # each row sees the first column
                row, column = f"tile.arange({x}.shape[-2])[:, None]", f"tile.arange({y}.shape[-2])"
                mask = self.rng.choice([f"{column} <= {row}", f"{row} + 3 > {column}",
                                        f"({row} >= {column}) & ({column} < 40)"])
                scores = f"tile.where({mask}, {scores}, -float('inf'))"
            p = f"v{len(self.lines)}"
            self.lines.append(f"    {p} = tile.softmax({scores}, axis=-1)")
            if self.rng.random() < 0.2:
                self.values.append((p, batch + (a[-2], b[-2])))
            self.add(f"{p} @ {z}", whole + (a[-2], c[-1]))
            return

    def scan(self):
        """Sums so far, sometimes from the end."""
        x, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        which, of = self.rng.choice([("cumsum", "{} * 0.1"), ("cumsum", "{} * 0.1"), ("cummax", "{}"),
                                     ("cummin", "{}"), ("logcumsumexp", "{}"),
                                     ("cumprod", "1 + tile.tanh({}) * 0.01")])
        if which != "cumsum":
            self.add(f"tile.clamp(tile.{which}({of.format(x)}, axis={axis}), -8, 8)", shape)
            return
        form = f"tile.cumsum({x} * 0.1, axis={axis})"
        if self.rng.random() < 0.3:
            form = f"tile.flip(tile.cumsum(tile.flip({x}, {axis}) * 0.1, axis={axis}), {axis})"
        self.add(f"tile.clamp({form}, -8, 8)", shape)

    def named(self):
        """Formulas that have a name, of one shape."""
        x, shape = self.pick()
        y = self.rng.choice([v for v, s in self.values if s == shape])
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        last = f"axis={axis}"
        form = self.rng.choice([
            f"tile.mish({x})", f"tile.elu({x})", f"tile.selu({x})", f"tile.softplus({x}, beta=2)",
            f"tile.lerp({x}, {y}, 0.3)", f"tile.hypot({x}, {y})", f"tile.atan2({x}, 1 + tile.abs({y}))",
            f"tile.atan({x})", f"tile.asin(tile.tanh({x}) * 0.9)", f"tile.erfc({x})", f"tile.asinh({x})",
            f"tile.xlogy(tile.abs({x}), 1 + tile.abs({y}))", f"tile.roll({x}, {self.rng.choice([1, -1])}, {axis})",
            f"tile.split(tile.cat([{x}, {y}], {last}), {x}.shape[{axis}], {last})[1]",
            f"tile.chunk(tile.repeat_interleave({x}, 2, {last}), 2, {last})[0]",
            f"tile.movedim(tile.movedim({x}, {axis}, 0), 0, {axis})",
            f"tile.max_pool1d({x}, 3, 1, 1)", f"tile.avg_pool1d({x}, 3, stride=1, padding=1)",
            f"{x} / (1 + tile.norm({x}, 1, {last}, keepdim=True))",
            f"{x} - tile.var_mean({x}, {last}, keepdim=True)[1]",
            f"tile.nan_to_num(tile.fmax({x}, {y}))", f"tile.where(tile.ge({x}, -20), {x}, {y})"])
        self.add(f"tile.clamp({form}, -8, 8)", shape)

    def order(self):
        """What is in order, or goes where indices say."""
        x, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        n = f"{x}.shape[{axis}]"
        one = shape[:axis] + ("1",) + shape[axis + 1:]
        index = f"((tile.arange({n}) * 5 + 1) % {n})"
        text, left = self.rng.choice([
            (f"tile.sort({x}, axis={axis}, descending={self.rng.random() < 0.5})", shape),
            (f"tile.median({x}, axis={axis}, keepdim=True)", one),
            (f"tile.quantile({x}, 0.3, axis={axis}, keepdim=True)", one),
            (f"tile.kthvalue({x}, 1, axis={axis}, keepdim=True)", one),
            (f"tile.index_select({x}, {axis}, {index})", shape),
            (f"tile.index_add({x}, {axis}, {index}, {x} * 0.5)", shape),
            (f"tile.index_fill({x}, {axis}, {index} // 2, 0.5)", shape),
            (f"tile.scatter_add({x}, 0, (0 * {x}).to(tl.int32), {x} * 0.01)", shape)])
        self.add(f"tile.clamp({text}, -8, 8)", left)

    def contract(self):
        """Sums over dimensions by name."""
        x, a = self.pick()
        y, b = self.rng.choice(self.values)
        names = {}
        def letters(shape):
            return "".join(names.setdefault(s, "xyzuvw"[len(names)]) if s != "1" else self.once() for s in shape)
        self.letter = iter("abcdefgh")
        left, right = letters(a), letters(b)
        if len(set(left)) < len(left) or len(set(right)) < len(right):
            return
        kept = [c for c in dict.fromkeys(left + right) if c in names.values() and self.rng.random() < 0.6][:3]
        self.rng.shuffle(kept)
        shapes = {c: s for s, c in names.items()}
        self.add(f"tile.clamp(tile.einsum('{left},{right}->{''.join(kept)}', {x}, {y}) * 0.02, -8, 8)",
                 tuple(shapes[c] for c in kept))

    def once(self):
        return next(self.letter)

    def update(self):
        """A parameter gets other values; what is returned was computed before, or is read again."""
        p, shape = self.rng.choice(self.parameters)
        if self.rng.random() < 0.5 and self.update_by_product(p, shape):
            return
        known = self.parameters if self.updates else self.values  # others may be views of what was written
        fits = [v for v, s in known if broadcast(shape, s) == shape]
        form = self.rng.choice(["{}[:] = tile.tanh({})", "{} += {} * 0.5", "{} *= tile.sigmoid({})", "{}[...] = {}"])
        if not shape:  # no index goes into it
            form = form.replace("[:]", "[...]")
        self.updates.append("    " + form.format(p, self.rng.choice(fits)))

    def update_by_product(self, p, shape):
        """Of a product and what was there before: false if no product has that shape."""
        known = self.parameters if self.updates else self.values
        for (x, a), (y, b) in self.rng.sample([(v, w) for v in known for w in known], len(known) ** 2):
            if not a or not b or (b[0] if len(b) == 1 else b[-2]) != a[-1]:
                continue
            batch = broadcast(a[:-2], b[:-2])
            if batch is None:
                continue
            if broadcast(shape, batch + a[-2:-1] + (b[-1:] if len(b) > 1 else ())) != shape:
                continue
            forms = ["{p} += ({x} @ {y}) * 0.05", "{p}[...] += {x} @ {y} * 0.1", "{p} -= tile.tanh({x} @ {y})",
                     "{p}[...] = {p} * 0.5 + ({x} @ {y}) * 0.1", "{p} *= tile.sigmoid({x} @ {y} + {p})"]
            if broadcast(a, shape) == a:
                forms.append("{p} += ({x} * {p}) @ {y} * 0.05")
            self.updates.append("    " + self.rng.choice(forms).format(p=p, x=x, y=y))
            return True
        return False

    def view(self):
        x, shape = self.pick()
        if self.rng.random() < 0.5 and len(shape) < 3:
            axis = self.rng.randrange(len(shape) + 1)
            self.add(f"{x}.unsqueeze({axis})", shape[:axis] + ("1",) + shape[axis:])
        elif len(shape) > 1:
            order = list(range(len(shape)))
            self.rng.shuffle(order)
            self.add(f"{x}.permute({', '.join(map(str, order))})", tuple(shape[i] for i in order))

    def move(self):
        """Elements elsewhere, in the same shape."""
        x, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        colons = ":, " * axis
        widths = ", ".join("(1, 0)" if i == axis else "(0, 0)" for i in range(len(shape)))
        form = self.rng.choice([
            f"tile.flip({x}, {axis})",
            f"tile.cat([{x}[{colons}1:], {x}[{colons}:1]], axis={axis})",
            f"tile.pad({x}, [{widths}])[{colons}:-1]",
            f"tile.pad({x}, [{widths}], mode='{self.rng.choice(['edge', 'wrap', 'symmetric'])}')[{colons}:-1]",
            f"{x}.reshape(-1).reshape({x}.shape)",
            f"{x}[{colons}::-1]",
            f"{x}[{colons}(tile.arange({x}.shape[{axis}]) * 7 + 3) % {x}.shape[{axis}]]",
            f"({x}[{colons}0] + {x}[{colons}-1]).unsqueeze({axis}) * 0.5 + 0 * {x}"])
        self.add(form, shape)

    def reshape(self):
        """Another shape between what is computed, with what repeats along some dimensions."""
        x, shape = self.pick()
        y = self.rng.choice([v for v, s in self.values if broadcast(shape, s) == shape])
        if not shape:
            return
        flat = self.rng.choice(["-1", f"{x}.shape[0], -1", f"-1, {x}.shape[-1]"])
        if self.rng.random() < 0.4:
            self.repeat(x, shape)
            return
        form = self.rng.choice(["tile.tanh({x}).reshape({flat}).reshape({x}.shape) + {y}",
                                "tile.relu({y} - (({x} * 0.5).reshape({flat}) + 1).reshape({x}.shape))"])
        self.add(f"tile.clamp({form.format(x=x, y=y, flat=flat)}, -8, 8)", shape)

    def repeat(self, x, shape):
        """What repeats, in another shape, and a part of it."""
        sizes = [f"{x}.shape[{i}]" for i in range(len(shape))]
        rest = "".join(f", {n}" for n in sizes[1:])
        form = self.rng.choice([
            f"({x}.unsqueeze(0).expand(2, {', '.join(sizes)}) * 0.5 + 1).reshape(2 * {sizes[0]}{rest})[{sizes[0]}:]",
            f"(tile.tanh({x}).unsqueeze(1).expand({sizes[0]}, 3{rest}) * 2).reshape(3 * {sizes[0]}{rest})[:{sizes[0]}]",
            f"(tile.repeat_interleave({x}, 2, 0) + 1).reshape({sizes[0]}, 2{rest})[:, 1]",
            f"({x}.unsqueeze(1) * tile.arange(2).reshape(1, 2{', 1' * (len(shape) - 1)})).reshape(-1{rest})[1::2]"])
        self.add(f"tile.clamp({form}, -8, 8)", shape)

    def take_twice(self):
        """Elements of elements, some of them outside."""
        x, shape = self.pick()
        if not shape:
            return
        axis, other = self.rng.randrange(len(shape)), self.rng.randrange(len(shape))
        def at(text, axis):
            return f"[{':, ' * axis}{text}]"
        n = f"{x}.shape[{axis}]"
        index = f"(tile.arange({n}) * 3 + 1) % {n}"
        widths = ", ".join("(2, 1)" if i == axis else "(0, 0)" for i in range(len(shape)))
        form = self.rng.choice([
            f"tile.repeat_interleave({x}, 2, {axis}){at('::2', axis)}{at('::-1', other)}",
            f"{x}{at(index, axis)}{at('::-1', other)}",
            f"{x}{at('::-1', other)}{at(index, axis)}",
            f"tile.flip(tile.pad({x}, [{widths}]), {axis}){at(f'1:{n} + 1', axis)}",
            f"tile.repeat_interleave(tile.pad({x}, [{widths}]), 3, {axis}){at('4::3', axis)}{at(f':{n}', axis)}"])
        self.add(form, shape)

    def write(self):
        """Parts of a copy get other elements."""
        x, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        colons = ":, " * axis
        name = f"v{len(self.lines)}"
        self.add(f"{x}{self.rng.choice([' * 1', '.clone()'])}", shape)
        self.lines += self.rng.choice([
            [f"    {name}[{colons}0] = {x}[{colons}-1] * 0.5"],
            [f"    {name}[{colons}1:] = {x}[{colons}:-1]", f"    {name}[{colons}-1] *= 2"],
            [f"    {name}[{colons}-1:] = 0"]])

    def argument(self, shape):
        """An array without gaps, or another order or a part of one."""
        made = lambda sizes: f"tile.randn(({''.join(f'{n}, ' for n in sizes)}))"
        which = self.rng.choice(["whole", "whole", "turned", "part", "step"])
        if not shape:
            return "tile.randn(1)[0]"
        if which == "turned":
            order = self.rng.sample(range(len(shape)), len(shape))
            back = ", ".join(str(order.index(i)) for i in range(len(shape)))
            return f"{made([shape[i] for i in order])}.permute({back})"
        if which == "part":
            return f"{made([n + 2 for n in shape])}[{', '.join(f'1:{n + 1}' for n in shape)}]"
        return f"{made(shape + [2])}[..., 0]" if which == "step" else made(shape)

    def text(self):
        parameters = ", ".join(f'{n}: tensor["{", ".join(s)}"]' for n, s in self.parameters)
        body = "\n".join(self.lines)
        results = ", ".join(n for n, _ in self.results)
        if self.updates:  # a view of what is written could not be returned behind it
            kept = ", ".join(f"r{i}" for i in range(len(self.results)))
            body += "".join(f"\n    r{i} = 0 + {n}" for i, (n, _) in enumerate(self.results))
            body = "\n".join([body] + self.updates)
            results = f"{kept}, {self.updates[-1].split()[0].split('[')[0]} * 2"
        sizes = [{d: self.rng.choice(SIZES[:4] if d == "B" else SIZES) for d in "BMN"} for _ in range(2)]
        tests = ""
        for i, size in enumerate(sizes):
            numbers = [[1 if d == "1" else size[d] for d in s] for _, s in self.parameters]
            arguments = ", ".join(self.argument(n) for n in numbers)
            tests += f"""

@tile.test
def test_{self.name}_{i}():
    args = [{arguments}]
    copies = [x.clone() for x in args]
    results = {self.name}(*args)
    for got, ref in zip(results, {self.name}.eager(*copies)):
        tile.check(got, ref, atol=2e-4, rtol=2e-4)
    for got, ref in zip(args, copies):
        tile.check(got, ref, atol=2e-4, rtol=2e-4)
"""
        return f"""
@tile.function
def {self.name}({parameters}):
{body}
    return {results},
{tests}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--as-built", action="store_true", help="in the code that is built ahead")
    parser.add_argument("--other-cuts", default="0", help="in other cuts than the model's")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    functions = {f"f{s}": Function(s).text() for s in range(options.seed, options.seed + options.count)}
    source = HEAD + "\n".join(functions.values())
    if options.print:
        print(source)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "random.tile"
        path.write_text(source, encoding="utf-8")
        command = [options.tilec, "test", str(path), "--device", options.device,
                   "--other-cuts", options.other_cuts]
        run = subprocess.run(command + ["--as-built"] * options.as_built, capture_output=True, text=True)
    if run.returncode == 0:
        print(f"{options.count} functions agree")
        return 0
    print(run.stdout[-20000:], run.stderr[-20000:])
    failed = sorted(set(re.findall(r"FAIL\w*.*?test_(f\d+)_", run.stdout + run.stderr)))
    for name in failed[:3]:
        print(functions[name])
    print("failed:", *failed)
    return 1


sys.exit(main())
