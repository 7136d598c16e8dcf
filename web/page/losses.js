// The losses of the GPU in a row. A reload of the page does not forget them.

const KEY = "posse.losses";
/// Milliseconds after which a loss is not one in a row with the loss before.
const ROW = 600_000;

/// The number of losses in a row.
export function losses() {
  try {
    const { count, at } = JSON.parse(sessionStorage.getItem(KEY)) ?? {};
    return Date.now() - at < ROW ? count : 0;
  } catch {
    return 0;
  }
}

/// Counts a loss, and returns the number of losses in a row.
export function addLoss() {
  const count = losses() + 1;
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ count, at: Date.now() }));
  } catch {
    // A browser may forbid a page to store anything; then each loss is the first.
  }
  return count;
}
