// The scale of the number of characters: the slider's value is its logarithm to base 10, from 0 to 5.

/// The number of characters at a position of the slider.
export function countAt(position) {
  return Math.round(10 ** position);
}

/// The next number of one leading digit, upwards or downwards: 1 to 9, 10 to 90, and so on. Arrow keys go along these.
export function nextCount(count, direction) {
  const unit = 10 ** Math.floor(Math.log10(count) + 1e-9);
  const lead = count / unit;
  if (direction > 0) return (Math.floor(lead) + 1) * unit;
  if (lead > 1) return (Math.ceil(lead) - 1) * unit;
  return Math.max(1, (9 * unit) / 10);
}
