// Errors of the examples, shown on their pages.

/// Does something, and shows its error.
export async function report(action) {
  const output = document.getElementById("error");
  try {
    output.value = "";
    return await action();
  } catch (error) {
    output.value = error.message;
    throw error;
  }
}
