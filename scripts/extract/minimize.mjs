// Finds the least of a smooth function of many numbers from its value and slope (L-BFGS with a backtracking step).

const MEMORY = 8;
const dot = (a, b) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
};

/** `cost(x, gradient)` returns the value at `x` and fills in its slope. Returns `x`, changed in place. */
export function minimize(cost, x, steps) {
  let gradient = new Float64Array(x.length);
  let value = cost(x, gradient);
  const past = [];
  for (let step = 0; step < steps; step++) {
    const direction = descent(gradient, past);
    const slope = dot(direction, gradient);
    let rate = past.length === 0 ? 1 / Math.max(1, Math.sqrt(-slope)) : 1;
    const next = new Float64Array(x.length);
    const nextGradient = new Float64Array(x.length);
    let nextValue = Infinity;
    for (let round = 0; round < 20; round++, rate /= 2) {
      for (let k = 0; k < x.length; k++) next[k] = x[k] + rate * direction[k];
      nextValue = cost(next, nextGradient);
      if (nextValue <= value + 1e-4 * rate * slope) break;
    }
    if (!(nextValue < value)) break;
    const moved = next.map((v, k) => v - x[k]);
    const turned = nextGradient.map((v, k) => v - gradient[k]);
    const curve = dot(moved, turned);
    if (curve > 1e-12) past.push({ moved, turned, curve });
    if (past.length > MEMORY) past.shift();
    const gain = value - nextValue;
    x.set(next);
    gradient = nextGradient;
    value = nextValue;
    if (gain < 1e-6 * Math.abs(value)) break;
  }
  return x;
}

/** The direction of the next step: downhill, bent by what past steps said of the curvature. */
function descent(gradient, past) {
  const direction = gradient.map((v) => -v);
  const shares = [];
  for (let k = past.length - 1; k >= 0; k--) {
    const { moved, turned, curve } = past[k];
    shares[k] = dot(moved, direction) / curve;
    for (let i = 0; i < direction.length; i++) direction[i] -= shares[k] * turned[i];
  }
  if (past.length > 0) {
    const { turned, curve } = past.at(-1);
    const scale = curve / dot(turned, turned);
    for (let i = 0; i < direction.length; i++) direction[i] *= scale;
  }
  past.forEach(({ moved, turned, curve }, k) => {
    const share = shares[k] - dot(turned, direction) / curve;
    for (let i = 0; i < direction.length; i++) direction[i] += share * moved[i];
  });
  return direction;
}
