//! `tests/fetch`, with files of our own making on a server of this machine: what arrives, what is refused, and what is
//! left behind by a run that is ended.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::skip::report_skipped;

/// The commit that the lists of these tests name.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What the server answers for a path.
#[derive(Clone)]
enum Answer {
    Whole(&'static [u8]),
    /// A part of the announced bytes, after which the connection ends.
    Part(&'static [u8]),
    /// A part of the announced bytes, after which nothing follows.
    Stalled(&'static [u8]),
}

/// A server on the loopback, which ends with the tests. It notes the paths that were asked for.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answers: &[(&str, Answer)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers: BTreeMap<String, Answer> =
            answers.iter().map(|(path, answer)| (format!("/owner/name/{COMMIT}/{path}"), answer.clone())).collect();
        let noted = requests.clone();
        std::thread::spawn(move || {
            // A connection that stalls stays open in this list.
            let mut stalled = Vec::new();
            for stream in listener.incoming().flatten() {
                stalled.extend(answer(stream, &answers, &noted));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// Answers one request. Returns a connection that has to stay open.
fn answer(
    mut stream: TcpStream,
    answers: &BTreeMap<String, Answer>,
    requests: &Mutex<Vec<String>>,
) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let path = request.split(' ').nth(1)?.to_owned();
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let found = answers.get(&path).cloned();
    requests.lock().unwrap().push(path);
    let (status, announced, bytes) = match &found {
        None => ("404 Not Found", 0, &b""[..]),
        Some(Answer::Whole(bytes)) => ("200 OK", bytes.len(), *bytes),
        Some(Answer::Part(bytes) | Answer::Stalled(bytes)) => ("200 OK", bytes.len() + 1, *bytes),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {announced}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(bytes).ok()?;
    matches!(found, Some(Answer::Stalled(_))).then_some(stream)
}

/// A folder with a list, and a folder for the files.
struct Fetch {
    folder: TempDir,
}

/// The SHA-256 of `one\n`, `two\n` and `three\n`, as `sha256sum` prints them.
const ONE: &str = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
const TWO: &str = "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a";
const THREE: &str = "f6936912184481f5edd4c304ce27c5a1a827804fc7f329f43d273b8621870776";

impl Fetch {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let list = format!(
            "# A list.\nsource owner/name {COMMIT}\n{ONE} gltf/a/one.glb in/one.glb\n{TWO} gltf/two.glb two.glb\n\
             {THREE} three.bin in/three.bin\n\nnone figures: nobody has them\n"
        );
        fs::write(folder.path().join("list.txt"), list).unwrap();
        Self { folder }
    }

    fn command(&self, address: SocketAddr) -> Command {
        let mut command = Command::new("bash");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch"));
        command.args(["--from", &format!("http://{address}/"), "--list"]).arg(self.folder.path().join("list.txt"));
        command.env("POSSE_COLLECTED", self.folder.path().join("files")).stdin(Stdio::null());
        for proxy in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(proxy);
        }
        command
    }

    /// Runs it. Returns the exit code, stdout and stderr.
    fn run(&self, server: &Server) -> (i32, String, String) {
        let output = self.command(server.address).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// The files, by their path, with their contents.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let (root, mut found) = (self.folder.path().join("files"), BTreeMap::new());
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    found.insert(path.strip_prefix(&root).unwrap().to_owned(), text);
                }
            }
        }
        found
    }
}

/// The files with these contents.
fn expected(files: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
    files.iter().map(|(path, text)| (path.into(), (*text).into())).collect()
}

fn has_tools() -> bool {
    let has = ["bash", "curl"].iter().all(|tool| Command::new(tool).arg("--version").output().is_ok());
    if !has {
        report_skipped("the script tests/fetch: bash or curl is missing");
    }
    has
}

const ALL: [(&str, Answer); 3] = [
    ("in/one.glb", Answer::Whole(b"one\n")),
    ("two.glb", Answer::Whole(b"two\n")),
    ("in/three.bin", Answer::Whole(b"three\n")),
];

#[test]
fn files_arrive_once_and_what_is_not_public_is_named() {
    if !has_tools() {
        return;
    }
    let (fetch, server) = (Fetch::new(), Server::start(&ALL));
    let (code, stdout, stderr) = fetch.run(&server);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("3 of 3 files are in ") && stdout.contains(", 3 of them new\n"), "{stdout}");
    assert!(stdout.ends_with("no public source has figures: nobody has them\n"), "{stdout}");
    let all = expected(&[("gltf/a/one.glb", "one\n"), ("gltf/two.glb", "two\n"), ("three.bin", "three\n")]);
    assert_eq!(fetch.files(), all);
    // Files that are there are left alone; one that has changed is replaced.
    fs::write(fetch.folder.path().join("files/gltf/two.glb"), "changed").unwrap();
    let (code, stdout, _) = fetch.run(&server);
    assert!(code == 0 && stdout.contains("3 of 3 files are in ") && stdout.contains(", 1 of them new\n"), "{stdout}");
    assert_eq!((server.requests(), fetch.files()), (4, all));
}

#[test]
fn a_relative_folder_begins_at_the_checkout() {
    if !has_tools() {
        return;
    }
    let (fetch, server) = (Fetch::new(), Server::start(&ALL));
    let files = fetch.folder.path().join("files");
    let up = "../".repeat(Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap().components().count() - 1);
    let relative = format!("{up}{}", files.strip_prefix("/").unwrap().display());
    let mut command = fetch.command(server.address);
    let output = command.current_dir("/").env("POSSE_COLLECTED", relative).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fetch.files().len(), 3);
}

#[test]
fn a_file_is_whole_or_not_there() {
    if !has_tools() {
        return;
    }
    let fetch = Fetch::new();
    let server = Server::start(&[("in/one.glb", Answer::Part(b"on")), ("two.glb", Answer::Whole(b"not two\n"))]);
    let (code, stdout, stderr) = fetch.run(&server);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("0 of 3 files are in "), "{stdout}");
    for text in [
        "error: gltf/a/one.glb: http://127.0.0.1:",
        "two.glb has other bytes than expected",
        "error: three.bin: http://127.0.0.1:",
    ] {
        assert!(stderr.contains(text), "{stderr}");
    }
    assert_eq!(fetch.files(), BTreeMap::new());
    // A later run completes it.
    let (code, _, stderr) = fetch.run(&Server::start(&ALL));
    assert_eq!((code, fetch.files().len()), (0, 3), "{stderr}");
}

#[test]
fn without_a_network_it_ends_at_once_and_says_so() {
    if !has_tools() {
        return;
    }
    let fetch = Fetch::new();
    fs::create_dir_all(fetch.folder.path().join("files/gltf")).unwrap();
    fs::write(fetch.folder.path().join("files/gltf/two.glb"), "two\n").unwrap();
    // Nobody listens at this port any more.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let began = Instant::now();
    let (code, stdout, stderr) = fetch.run(&Server { address, requests: Arc::default() });
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("1 of 3 files are in "), "{stdout}");
    assert_eq!(stderr.matches("cannot be reached; is this machine online?").count(), 1, "{stderr}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_run_that_is_ended_leaves_whole_files_alone() {
    if !has_tools() {
        return;
    }
    let fetch = Fetch::new();
    let server = Server::start(&[("in/one.glb", Answer::Whole(b"one\n")), ("two.glb", Answer::Stalled(b"tw"))]);
    let mut child = fetch.command(server.address).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while server.requests() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "the second file was not asked for");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(fetch.files(), expected(&[("gltf/a/one.glb", "one\n")]));
    let (code, stdout, stderr) = fetch.run(&Server::start(&ALL));
    assert!(code == 0 && stdout.contains(", 2 of them new\n"), "{stdout}{stderr}");
}

#[test]
fn wrong_options_are_refused() {
    if !has_tools() {
        return;
    }
    let run = |arguments: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fetch");
        Command::new("bash").arg(script).args(arguments).output().unwrap().status.code()
    };
    assert_eq!(run(&["--help"]), Some(0));
    for arguments in [&["--from"][..], &["--list", "/nonexistent"], &["files"]] {
        assert_eq!(run(arguments), Some(2), "{arguments:?}");
    }
}

/// Each place is a path below the folder of collected files, and stands there once; each file has the sum of its bytes
/// and a commit, both in full.
#[test]
fn the_list_is_well_formed() {
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/collected.txt")).unwrap();
    let is_hex = |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (mut places, mut has_source) = (Vec::new(), false);
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("none ")) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["source", repository, commit] => {
                has_source = true;
                assert!(repository.split('/').count() == 2 && is_hex(commit, 40), "{line}");
            }
            [sum, place, path] => {
                assert!(has_source && is_hex(sum, 64) && !path.starts_with('/'), "{line}");
                assert!(place.starts_with("gltf/") && !place.contains(".."), "{line}");
                places.push(place.to_owned());
            }
            _ => panic!("{line}"),
        }
    }
    let count = places.len();
    places.sort();
    places.dedup();
    assert!(count == places.len() && count > 40, "{count} places");
}
