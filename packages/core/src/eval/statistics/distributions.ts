/**
 * Probabilities that intervals and tests are made of. All are exact to about ten digits, which
 * their tests check against published tables.
 */

const halvings = 200;

/** Where a growing function reaches `wanted`. */
function whereReached(
  wanted: number,
  grows: (x: number) => number,
  from: number,
  to: number,
): number {
  let low = from;
  let high = to;
  for (let i = 0; i < halvings && high - low > 1e-13 * Math.max(1, Math.abs(low)); i++) {
    const middle = (low + high) / 2;
    if (grows(middle) < wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Chance that a standard normal value is at most `x`, by the series of Marsaglia (Journal of
 * Statistical Software 11(4), 2004).
 */
export function normalBelow(x: number): number {
  if (x < -8) return 0;
  if (x > 8) return 1;
  let term = x;
  let sum = x;
  for (let i = 3; Math.abs(term) > 1e-17 * Math.abs(sum); i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** The value that a standard normal value is below with the chance `share`. */
export function normalQuantile(share: number): number {
  return whereReached(share, normalBelow, -8, 8);
}

/** Logarithm of the gamma function for x > 0: Lanczos' approximation with g = 7 and nine terms. */
export function logGamma(x: number): number {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  let sum = 0.99999999999980993;
  for (const [i, term] of terms.entries()) sum += term / (x + i);
  const shifted = x + 6.5;
  return Math.log(2 * Math.PI) / 2 + (x - 0.5) * Math.log(shifted) - shifted + Math.log(sum);
}

/** The regularised incomplete beta function, by its continued fraction (Numerical Recipes §6.4). */
export function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges quickly on one side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front =
    Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) /
    a;
  return front * betaFraction(x, a, b);
}

const tiny = 1e-300;
const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);

function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/**
 * Chance that a value of Student's distribution with `freedom` degrees of freedom is at most `t`.
 */
export function studentBelow(t: number, freedom: number): number {
  const tail = betaShare(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

/**
 * The value that a value of Student's distribution is below with the chance `share`, which is at
 * least a half.
 */
export function studentQuantile(share: number, freedom: number): number {
  let high = 1;
  while (studentBelow(high, freedom) < share && high < 1e12) high *= 2;
  return whereReached(share, (t) => studentBelow(t, freedom), 0, high);
}

/**
 * Chance of a split of `better + worse` at least as uneven as this one when both are as likely: the
 * exact two-sided sign test. On cases that either pass or fail it is McNemar's exact test.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let share = 0;
  for (let i = 0; i <= Math.min(better, worse); i++) {
    share += Math.exp(logGamma(n + 1) - logGamma(i + 1) - logGamma(n - i + 1) - n * Math.LN2);
  }
  return Math.min(1, 2 * share);
}
