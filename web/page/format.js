// Numbers as text.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/// A whole number with separators: `12,500`.
export function formatCount(number) {
  return whole.format(number);
}

/// A share as per cent: `30 %`.
export function formatShare(share) {
  return `${whole.format(100 * share)} %`;
}

/// A time of the GPU: `1.25 ms`.
export function formatNanoseconds(nanoseconds) {
  const milliseconds = nanoseconds / 1e6;
  return `${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(1)} ms`;
}

/// A number of two or three digits: `0.034`, `17.2`, `184 k`, `32 M`, `1.5 G`.
export function formatRate(number) {
  for (const [unit, name] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (number >= unit) return `${Number((number / unit).toPrecision(3))}${name}`;
  }
  return String(Number(number.toPrecision(3)));
}

/// The error as a share of its bound, in two digits: `0.034`.
export function formatBoundShare(share) {
  return String(Number(share.toPrecision(2)));
}
