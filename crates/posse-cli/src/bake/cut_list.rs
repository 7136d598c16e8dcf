//! Lists of cuts: the CSV files of `--cuts`.
//!
//! Two forms are known. In the first, each row is a piece: a file, its first and its last frame, and a name if wanted,
//! with or without a head line. In the second, which 100STYLE has, each row is a style, and each pair of columns
//! `X_START` and `X_STOP` has the frames of the take `STYLE_X`. Both ends are included, as in the program of 100STYLE.
//! <https://www.ianxmason.com/100style/>

use std::path::{Path, PathBuf};

use posse::Error;

use crate::bake::facts;
use crate::bake::frames::FrameRange;

/// The names of columns in a head line, without separators and capitals: of the file, its first and its last frame, and
/// the name of the piece.
const COLUMNS: [&[&str]; 4] = [
    &["file", "filename", "filepath", "path", "source", "sourcefile", "sourcepath", "clip", "motion", "take"],
    &["first", "firstframe", "start", "startframe", "framestart", "begin", "beginframe", "from"],
    &["last", "lastframe", "end", "endframe", "frameend", "stop", "stopframe", "to"],
    &["name", "newname", "piece", "output"],
];

/// The texts that stand for a missing number.
const MISSING: [&str; 5] = ["", "-", "na", "n/a", "nan"];

/// A list of cuts.
#[derive(Debug, Clone)]
pub struct CutList {
    pub path: PathBuf,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The pieces, in the order of the rows.
    pub rows: Vec<CutRow>,
    /// `true` if each row names a take of a data set, of which only some may be among the inputs.
    pub is_data_set: bool,
}

/// A piece, as a row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutRow {
    /// The number of the row, from 1. A head line and empty lines count.
    pub number: usize,
    /// The name of the file, or of its clip.
    pub file: String,
    /// The frames and the name of the piece, or the reason that the row cannot be used.
    pub piece: Result<Piece, String>,
}

/// The frames and the name of a piece.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    pub range: FrameRange,
    /// The name of the output; `None` for the name of the clip with the range.
    pub name: Option<String>,
}

impl CutList {
    /// Reads a list.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, and [`Error::Usage`] for a list without rows, or with a head line of
    /// unknown columns.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = facts::read_regular(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = CsvLine::all(text.trim_start_matches('\u{feff}'));
        let (rows, is_data_set) =
            rows(&lines).map_err(|reason| Error::Usage(format!("{}: {reason}", path.display())))?;
        if rows.is_empty() {
            let path = path.display();
            return Err(Error::Usage(format!("{path}: the list has no rows; write FILE,FIRST,LAST per line")));
        }
        Ok(Self { path: path.to_path_buf(), sha256: facts::sha256_of_bytes(&bytes), rows, is_data_set })
    }
}

/// The rows of a list, and true if they are takes of a data set. Without a head line, the columns are the columns of
/// [`COLUMNS`] in their order.
///
/// # Errors
/// The columns that a head line lacks.
fn rows(lines: &[CsvLine]) -> Result<(Vec<CutRow>, bool), String> {
    let Some((head, rest)) = lines.split_first() else { return Ok((Vec::new(), false)) };
    let plain = |cell: &String| cell.to_lowercase().replace(['_', '-', ' '], "");
    let names: Vec<String> = head.cells.iter().map(plain).collect();
    let position = |column: usize| names.iter().position(|name| COLUMNS[column].contains(&name.as_str()));
    let positions = [0, 1, 2, 3].map(position);
    if let [Some(file), Some(first), Some(last), name] = positions {
        // A column beyond the last one is empty.
        let columns = [file, first, last, name.unwrap_or(usize::MAX)];
        return Ok((rest.iter().map(|line| line.row(columns, usize::MAX)).collect(), false));
    }
    let takes = takes(&head.cells);
    if !takes.is_empty() {
        return Ok((rest.iter().flat_map(|line| line.takes(&takes)).collect(), true));
    }
    if head.has_names() {
        let lacks = ["file", "first", "last"].into_iter().zip(positions).filter(|(_, position)| position.is_none());
        let lacks: Vec<&str> = lacks.map(|(name, _)| name).collect();
        return Err(format!(
            "row {}: the head line {} has no column {}; expected {}, or pairs X_START and X_STOP",
            head.number,
            head.cells.join(", "),
            lacks.join(", "),
            known_columns()
        ));
    }
    let width = lines.iter().map(|line| line.cells.len()).max().unwrap_or(0);
    Ok((lines.iter().map(|line| line.row([0, 1, 2, 3], width)).collect(), false))
}

/// The names that columns may have, for messages.
fn known_columns() -> String {
    let column = |names: &&[&str]| match names.split_first() {
        Some((name, others)) => format!("{name} (or {})", others.join(", ")),
        None => String::new(),
    };
    COLUMNS.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The columns of a kind of take of a data set.
struct TakeColumns {
    kind: String,
    first: usize,
    last: usize,
}

/// The pairs of columns `X_START` and `X_STOP`, or `X_END`.
fn takes(head: &[String]) -> Vec<TakeColumns> {
    let kind_of = |cell: &String, suffixes: &[&str]| {
        let upper = cell.to_uppercase();
        let kind = suffixes.iter().find_map(|suffix| upper.strip_suffix(suffix))?;
        cell.get(..kind.len()).filter(|kind| !kind.is_empty() && !kind.eq_ignore_ascii_case("frame")).map(str::to_owned)
    };
    let pair = |(first, cell): (usize, &String)| {
        let kind = kind_of(cell, &["_START"])?;
        let is_end = |cell: &String| kind_of(cell, &["_STOP", "_END"]).as_ref() == Some(&kind);
        let last = head.iter().position(is_end)?;
        Some(TakeColumns { kind, first, last })
    };
    head.iter().enumerate().filter_map(pair).collect()
}

/// A line of a CSV file that is not empty.
#[derive(Debug, PartialEq, Eq)]
struct CsvLine {
    /// Its number, from 1.
    number: usize,
    /// Its cells, without spaces at their ends.
    cells: Vec<String>,
    /// The reason that it has no cells but the line itself.
    error: Option<String>,
}

/// The error of a line with a quote that does not close.
const OPEN_QUOTE: &str =
    "a quote at the beginning of a cell does not close at the end of one; close it, and double the quotes within";

impl CsvLine {
    /// The lines of a text. The separator is the comma, the semicolon or the tab, whichever the first line has most of.
    /// Cells in double quotes may have separators, line breaks, and doubled quotes.
    fn all(text: &str) -> Vec<Self> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        // Of several with one count, the last is taken.
        let separator = ['\t', ';', ','].into_iter().max_by_key(|letter| first.matches(*letter).count());
        let separator = separator.unwrap_or(',');
        let (mut lines, mut rest, mut number) = (Vec::new(), text.as_str(), 1);
        while !rest.is_empty() {
            let (cells, length, error) = match cells(rest, separator) {
                Some((cells, length)) => (cells, length, None),
                // The lines after it are read, whatever the quote has of them.
                None => {
                    let line = rest.split_inclusive('\n').next().unwrap_or(rest);
                    (vec![line.trim().to_owned()], line.len(), Some(OPEN_QUOTE.to_owned()))
                }
            };
            if cells.iter().any(|cell| !cell.is_empty()) {
                lines.push(Self { number, cells, error });
            }
            number += rest[..length].matches('\n').count();
            rest = &rest[length..];
        }
        lines
    }

    fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// Returns `true` for a line whose second and third cell begin with letters, as in a head line.
    fn has_names(&self) -> bool {
        let is_name = |cell: &String| {
            let is_number = cell.parse::<f64>().is_ok() || MISSING.contains(&cell.to_lowercase().as_str());
            !is_number && cell.starts_with(char::is_alphabetic)
        };
        self.cells.len() > 1 && self.cells[1..].iter().take(2).all(is_name)
    }

    /// The piece of a row, with the columns of the file, its frames, and the name. A row has no more cells than
    /// `width` and the columns allow.
    fn row(&self, columns: [usize; 4], width: usize) -> CutRow {
        let [file, first, last, name] = columns.map(|column| self.cell(column).to_owned());
        let name = Some(name).filter(|name| !name.is_empty());
        let range = || {
            if self.cells.len() < 3 {
                return Err(format!("the number of its cells is {}; expected FILE,FIRST,LAST", self.cells.len()));
            }
            if width != usize::MAX && self.cells.len() > 4 {
                return Err(format!(
                    "the number of its cells is {}; expected FILE,FIRST,LAST,NAME, or a head line that names the columns; put a file with \
                     separators in its name in quotes",
                    self.cells.len()
                ));
            }
            range_of(&first, &last)
        };
        let (file, piece) = match &self.error {
            Some(reason) => (self.cell(0).to_owned(), Err(reason.clone())),
            None if file.is_empty() => (file, Err("the name of the file is missing".into())),
            None => (file, range()),
        };
        CutRow { number: self.number, file, piece: piece.map(|range| Piece { range, name }) }
    }

    /// The takes of a data set.
    fn takes(&self, columns: &[TakeColumns]) -> Vec<CutRow> {
        match self.error {
            Some(_) => vec![self.row([0, 1, 2, 3], usize::MAX)],
            None => columns.iter().filter_map(|columns| self.take(columns)).collect(),
        }
    }

    /// A take of a data set; `None` without frames.
    fn take(&self, columns: &TakeColumns) -> Option<CutRow> {
        let [style, first, last] = [0, columns.first, columns.last].map(|column| self.cell(column));
        let is_missing = |cell: &str| MISSING.contains(&cell.to_lowercase().as_str());
        if style.is_empty() || is_missing(first) && is_missing(last) {
            return None;
        }
        let piece = range_of(first, last).map(|range| Piece { range, name: None });
        Some(CutRow { number: self.number, file: format!("{style}_{}", columns.kind), piece })
    }
}

/// The cells of the line that a text begins with, and the length of the line with its end. `None` if a quote does not
/// close at the end of a cell.
fn cells(text: &str, separator: char) -> Option<(Vec<String>, usize)> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let (mut is_quoted, mut is_closed) = (false, false);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if is_quoted => {
                if letters.next_if(|(_, next)| *next == '"').is_some() {
                    cell.push('"');
                } else {
                    (is_quoted, is_closed) = (false, true);
                }
            }
            letter if is_quoted => cell.push(letter),
            '\n' => {
                cells.push(cell.trim().to_owned());
                return Some((cells, at + 1));
            }
            letter if letter == separator => {
                cells.push(std::mem::take(&mut cell).trim().to_owned());
                is_closed = false;
            }
            letter if is_closed && !letter.is_whitespace() => return None,
            '"' if cell.trim().is_empty() => is_quoted = true,
            letter => cell.push(letter),
        }
    }
    if is_quoted {
        return None;
    }
    cells.push(cell.trim().to_owned());
    Some((cells, text.len()))
}

fn range_of(first: &str, last: &str) -> Result<FrameRange, String> {
    FrameRange::new(parse_frame(first)?.unwrap_or(0), parse_frame(last)?)
}

/// A frame; `None` for an empty cell. Tables of numbers with empty cells often have them as `10.0`.
fn parse_frame(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let whole = text.split_once('.').filter(|(_, rest)| rest.bytes().all(|digit| digit == b'0'));
    let whole = whole.map_or(text, |(whole, _)| whole);
    whole.parse().map(Some).map_err(|_| format!("{text:?} is no frame; expected a whole number, 0 for the first frame"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        let show = |row: &CutRow| {
            let piece = match &row.piece {
                Ok(Piece { range, name }) => format!("{range} {}", name.as_deref().unwrap_or("-")),
                Err(reason) => format!("! {reason}"),
            };
            format!("{} {} {piece}", row.number, row.file)
        };
        rows(&CsvLine::all(text)).unwrap().0.iter().map(show).collect()
    }

    #[test]
    fn lists_with_and_without_a_head_line_have_the_same_pieces() {
        let rows = "walk.bvh,10,70\nmore/run.bvh, 0 ,,sprint\nwalk.bvh,,5\n";
        let shown = |first: usize| {
            vec![
                format!("{first} walk.bvh 10:70 -"),
                format!("{} more/run.bvh 0: sprint", first + 1),
                format!("{} walk.bvh 0:5 -", first + 2),
            ]
        };
        assert_eq!(list(rows), shown(1));
        assert_eq!(list(&rows.replace(',', ";").replace('\n', "\r\n")), shown(1));
        assert_eq!(list(&rows.replace(',', "\t").replace('\n', "\r")), shown(1));
        assert_eq!(list(&format!("File,First,Last,Name\n{rows}")), shown(2));
        // The head line of HumanML3D.
        assert_eq!(list(&format!("source_path,start_frame,end_frame,new_name\n{rows}")), shown(2));
        assert_eq!(list("name;end;file;start\na;7;b.bvh;3\n"), ["2 b.bvh 3:7 a"]);
    }

    #[test]
    fn cells_may_be_in_quotes() {
        assert_eq!(list("\"a, b.bvh\",1,2,\"the \"\"end\"\"\"\n"), ["1 a, b.bvh 1:2 the \"end\""]);
        assert_eq!(
            list("a\"b.bvh,1,2\n\n\"c\nd.bvh\",3,4\ne,5,6"),
            ["1 a\"b.bvh 1:2 -", "3 c\nd.bvh 3:4 -", "5 e 5:6 -"]
        );
        assert_eq!(list("\"\",1,2\n\"a\" , 1,\t\"2\"\n")[1], "2 a 1:2 -");
    }

    #[test]
    fn a_quote_that_does_not_close_is_the_error_of_its_row() {
        let open = |number: usize, line: &str| format!("{number} {line} ! {OPEN_QUOTE}");
        assert_eq!(list("\"a.bvh,1,2\n"), [open(1, "\"a.bvh,1,2")]);
        let text = "a,1,2\n\"b,3,4\nc,5,6\n\"d\",7,8,\"e, f\"\ng,9,10,\"h\ni,11,12";
        let expected = [
            "1 a 1:2 -".to_owned(),
            open(2, "\"b,3,4"),
            "3 c 5:6 -".to_owned(),
            "4 d 7:8 e, f".to_owned(),
            open(5, "g,9,10,\"h"),
            "6 i 11:12 -".to_owned(),
        ];
        assert_eq!(list(text), expected);
        // The columns of a head line do not matter.
        assert_eq!(list("name,first,last,file\n\"a,1,2,b\nc,3,4,d\n"), [open(2, "\"a,1,2,b"), "3 d 3:4 c".to_owned()]);
        assert_eq!(list("S,A_START,A_STOP\n\"t,1,2\nu,3,4\n"), [open(2, "\"t,1,2"), "3 u_A 3:4 -".to_owned()]);
    }

    #[test]
    fn a_first_row_without_known_columns_is_no_head_line() {
        for (row, reason) in [
            ("walk,1.5,3.5", "\"1.5\" is no frame"),
            ("walk,-1,-1", "\"-1\" is no frame"),
            ("walk,N/A,N/A", "\"N/A\" is no frame"),
            ("walk,10 ,x", "\"x\" is no frame"),
            ("clip,1,2,3,4", "the number of its cells is 5"),
        ] {
            let rows = list(&format!("{row}\nrun,0,1\n"));
            assert!(rows[0].contains(&format!(" ! {reason}")) && rows[1] == "2 run 0:1 -", "{row}: {rows:?}");
        }
        for (head, lacks) in [
            ("Datei,von,bis,Titel", "file, first, last"),
            ("file,von,bis", "first, last"),
            ("name,start,end", "file"),
            ("clip,start", "last"),
            ("STYLE,BR_START,BR_LENGTH", "file, first, last"),
        ] {
            let reason = rows(&CsvLine::all(&format!("\n{head}\nrun,0,1\n"))).unwrap_err();
            let expected = format!("row 2: the head line {} has no column {lacks};", head.replace(',', ", "));
            assert!(reason.starts_with(&expected) && reason.contains("first (or firstframe, start, "), "{reason}");
        }
    }

    #[test]
    fn rows_that_cannot_be_used_say_why() {
        let rows = list("a,1.0,2.00\nb,-3,2\nc,9,2\nd,1\n,1,2\nf,1,2.5\ng,1,2,h,i\n");
        let expected = [
            "1 a 1:2 -",
            "2 b ! \"-3\" is no frame; expected a whole number",
            "3 c ! the last frame, 2, is before the first, 9",
            "4 d ! the number of its cells is 2; expected FILE,FIRST,LAST",
            "5  ! the name of the file is missing",
            "6 f ! \"2.5\" is no frame",
            "7 g ! the number of its cells is 5",
        ];
        assert!(rows.len() == 7 && rows.iter().zip(expected).all(|(row, start)| row.starts_with(start)), "{rows:?}");
        assert!(list("").is_empty() && list(" \n,,\n").is_empty());
    }

    #[test]
    fn a_table_of_styles_names_the_takes_of_100style() {
        let text =
            "STYLE_NAME,BR_START,BR_STOP,TR1_START,TR1_STOP\nAeroplane,10,70,N/A,N/A\nAkimbo,,,154,6052\nOld,5,x,,\n";
        assert_eq!(
            list(text),
            [
                "2 Aeroplane_BR 10:70 -",
                "3 Akimbo_TR1 154:6052 -",
                "4 Old_BR ! \"x\" is no frame; expected a whole number, 0 for the first frame"
            ]
        );
        assert!(rows(&CsvLine::all(text)).unwrap().1);
        assert!(!rows(&CsvLine::all("file,frame_start,frame_end\na,1,2\n")).unwrap().1);
    }
}
