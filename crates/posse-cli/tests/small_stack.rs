//! Commands on a machine whose stacks are small.

use std::process::Command;

/// The least limit of the shell for the stack, in KiB, with which commands run.
const STACK: u32 = 64;

#[test]
fn commands_run_whatever_the_limit_of_the_shell_for_the_stack() {
    for arguments in ["demo --help", "demo --instances 3 --engine cpu", "eval nonesuch.glb"] {
        let script = format!("ulimit -s {STACK} && exec \"$0\" {arguments}");
        let output = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_posse")]).output().unwrap();
        let expected = if arguments.starts_with("eval") { 2 } else { 0 };
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{arguments}: {text}");
    }
}
