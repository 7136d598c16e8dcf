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

/// The error as a share of its bound, in two digits: `0.034`.
export function formatBoundShare(share) {
  return String(Number(share.toPrecision(2)));
}
