"""SASS of a workgroup, executed lane by lane, to count what a warp issues.

Only the instructions of posse's kernels are known; another one is an error that names it. A lane runs up to a barrier,
then the next lane does. Lanes of a warp that part issue both sides, so that an instruction is issued as often as the
lane runs it that runs it most.
"""

import collections
import functools
import math
import re
import struct

MASK = 0xFFFFFFFF
# The bits of an address that select a buffer: 0 is the memory of a lane, and buffers count from 1.
BUFFER = 40
# The place of a constant is its offset, below the number of its bank: parameters are in bank 0, uniforms in bank 3.
BANK = 16
PARAMETERS = 0x210
UNIFORMS = 3 << BANK


def to_float(word):
    return struct.unpack("<f", struct.pack("<I", word & MASK))[0]


def to_word(number):
    try:
        return struct.unpack("<I", struct.pack("<f", number))[0]
    except OverflowError:
        return 0x7F800000 if number > 0 else 0xFF800000


def signed(word):
    return word - ((word & 0x80000000) << 1)


class Instruction:
    """A line of SASS: guard, name, modifiers, operands."""

    def __init__(self, text):
        guard = re.match(r"@(!?U?P\w+)\s+", text)
        self.guard = guard and guard.group(1)
        body = text[guard.end() :] if guard else text
        name, _, rest = body.partition(" ")
        parts = name.split(".")
        self.text, self.name, self.modifiers = text, parts[0], parts[1:]
        operands = re.split(r",(?![^\[(]*[\])])", rest)
        self.operands = [one.strip().replace(".reuse", "") for one in operands if one.strip()]
        # The datapath for numbers that a warp shares has the same operations.
        self.base = self.name[1:] if self.name in UNIFORM else self.name

    def words(self):
        """The words that a memory instruction moves."""
        return 4 if "128" in self.modifiers else 2 if "64" in self.modifiers else 1


UNIFORM = {"U" + name for name in "MOV IMAD IADD3 ISETP SEL LEA LDC SHF LOP3 PLOP3 PRMT POPC FLO".split()}
MEMORY = {"LDG", "STG", "LDS", "STS", "LD", "ST", "LDL", "STL"}
COMPARE = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LTU": lambda a, b: not a >= b,
    "LEU": lambda a, b: not a > b,
    "GTU": lambda a, b: not a <= b,
    "GEU": lambda a, b: not a < b,
    "NEU": lambda a, b: a != b,
}


class Program:
    """The instructions of a listing, and the places of its labels."""

    def __init__(self, listing):
        self.instructions, self.labels = [], {}
        inside = False
        for line in listing.split("\n"):
            inside = inside or line.startswith(".text.")
            label = re.match(r"(\.L_x_\d+):", line)
            found = re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line)
            if inside and label:
                self.labels[label.group(1)] = len(self.instructions)
            elif line.startswith("//---") and inside:
                break
            elif inside and found:
                self.instructions.append(Instruction(found.group(1).strip("{} ")))


class Lane:
    """The state of an invocation."""

    def __init__(self, program, memory, constants, shared, index, group):
        self.program, self.memory, self.constants, self.shared = program, memory, constants, shared
        self.index, self.group = index, group
        self.registers = collections.defaultdict(int)
        self.predicates = {}
        self.own = {}
        self.issued = collections.Counter()
        self.accesses = []
        self.running = self.run()

    def predicate(self, text):
        name = text.lstrip("!")
        value = name in ("PT", "UPT") or self.predicates.get(name, False)
        return value != text.startswith("!")

    def set_predicate(self, name, value):
        if name not in ("PT", "UPT"):
            self.predicates[name] = bool(value)

    def word(self, text):
        """The word of an operand, as an integer from 0."""
        kind, value, flags = operand(text)
        found = value
        if kind == "register":
            found = self.registers[value] if value else 0
        elif kind == "constant":
            found = self.constants.get(value, 0)
        if "-" in flags:
            found = -found
        return (~found if "~" in flags else found) & MASK

    def number(self, text):
        """The number of an operand of floating-point arithmetic."""
        kind, value, flags = operand(text)
        if kind == "register":
            value = to_float(self.registers[value] if value else 0)
        elif kind == "constant":
            value = to_float(self.constants.get(value, 0))
        elif kind == "word":
            value = to_float(value)
        if "|" in flags:
            value = abs(value)
        return -value if "-" in flags else value

    def pair(self, text):
        """A number of 64 bits in two registers or constants."""
        kind, value, _ = operand(text)
        if kind == "constant":
            return self.constants.get(value, 0) | self.constants.get(value + 4, 0) << 32
        return self.registers[value] | self.registers[following(value, 1)] << 32 if value else 0

    def set(self, name, value, index=0):
        name = name.split(".")[0]
        if name not in ("RZ", "URZ"):
            self.registers[following(name, index)] = value & MASK

    def address(self, instruction):
        """The address of a memory instruction."""
        text = next(one for one in instruction.operands if "[" in one)
        total = 0
        for part in re.findall(r"[^+\[\]]+", text[text.rindex("[") :]):
            name = part.split(".")[0]
            if name.lstrip("-").startswith("0x"):
                total += int(name, 0)
            elif name not in ("RZ", "URZ"):
                wide = ".64" in part or (name.startswith("UR") and instruction.base in ("LDG", "STG", "LD", "ST"))
                factor = int(part.split(".X")[1]) if ".X" in part else 1
                total += (self.pair(name) if wide else self.registers[name]) * factor
        return total

    def access(self, instruction, place):
        """Loads or stores the words of a memory instruction."""
        address, kind = self.address(instruction), instruction.base
        if kind in ("LDS", "STS"):
            store = self.shared
        else:
            store = self.memory[address >> BUFFER] if address >> BUFFER else self.own
        first = (address & (1 << BUFFER) - 1) >> 2
        for index in range(instruction.words()):
            if kind.startswith("LD"):
                self.set(instruction.operands[0], store.get(first + index, 0), index)
            else:
                name = instruction.operands[-1]
                store[first + index] = 0 if name == "RZ" else self.registers[following(name, index)]
        self.accesses.append((place, kind, address, 4 * instruction.words()))

    def run(self):
        """Runs the lane; yields at each barrier."""
        place = 0
        instructions = self.program.instructions
        while True:
            instruction = instructions[place]
            self.issued[place] += 1
            next_place = place + 1
            if instruction.guard is None or self.predicate(instruction.guard):
                base = instruction.base
                if base == "EXIT":
                    return
                if base == "BAR":
                    yield
                elif base == "BRA":
                    if all(map(self.predicate, instruction.operands[:-1])):
                        next_place = self.program.labels[re.search(r"\.L_x_\d+", instruction.text).group()]
                elif base in MEMORY:
                    self.access(instruction, place)
                else:
                    OPERATIONS[base](self, instruction)
            place = next_place


@functools.lru_cache(maxsize=None)
def following(name, index):
    """The name of a register some places behind another."""
    letters = "UR" if name.startswith("UR") else "R"
    return f"{letters}{int(name[len(letters):]) + index}"


@functools.lru_cache(maxsize=None)
def operand(text):
    """The kind of an operand, its register, place or value, and its signs."""
    flags = ""
    if re.match(r"-(?![\d])|~|\|", text):
        flags = "".join(sign for sign in "-~|" if sign in text)
        text = text.strip("-~|")
    register = re.match(r"(U?R\d+|U?RZ)\b", text)
    if register:
        name = register.group(1)
        return "register", None if name in ("RZ", "URZ") else name, flags
    constant = re.match(r"c\[0x(\d)\]\[(?:0x(\w+)|U?RZ)\]", text)
    if constant:
        return "constant", int(constant.group(1), 16) << BANK | int(constant.group(2) or "0", 16), flags
    if re.match(r"-?0x", text):
        return "word", int(text, 0) & MASK, flags
    text = text.replace("+INF", "inf").replace("-INF", "-inf").replace("+QNAN", "nan").replace("-QNAN", "nan")
    return "number", float(text), flags


OPERATIONS = {}


def operation(*names):
    def add(function):
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return add


@operation("BSSY", "BSYNC", "NOP", "WARPSYNC", "DEPBAR", "YIELD", "BREAK", "CALL")
def nothing(lane, one):
    pass


@operation("MOV", "R2UR")
def move(lane, one):
    lane.set(one.operands[0], lane.word(one.operands[1]))


@operation("R2P")
def to_predicates(lane, one):
    bits, mask = lane.word(one.operands[1]), lane.word(one.operands[2])
    for index in range(7):
        if mask >> index & 1:
            lane.set_predicate(f"P{index}", bits >> index & 1)


@operation("P2R")
def from_predicates(lane, one):
    mask = lane.word(one.operands[3])
    bits = sum(lane.predicate(f"P{index}") << index for index in range(7))
    lane.set(one.operands[0], bits & mask | lane.word(one.operands[2]) & ~mask)


@operation("S2R", "S2UR")
def special(lane, one):
    values = {"SR_TID.X": lane.index, "SR_CTAID.X": lane.group}
    lane.set(one.operands[0], values.get(one.operands[1], 0))


@operation("CS2R")
def clear(lane, one):
    lane.set(one.operands[0], 0)
    if "32" not in one.modifiers:
        lane.set(one.operands[0], 0, 1)


@operation("LDC")
def load_constant(lane, one):
    at = operand(one.operands[1])[1]
    for index in range(one.words()):
        lane.set(one.operands[0], lane.constants.get(at + 4 * index, 0), index)


@operation("HFMA2")
def load_halves(lane, one):
    """Loads an immediate number: the product of zeros, and two halves."""
    high, low = (struct.unpack("<H", struct.pack("<e", lane.number(half)))[0] for half in one.operands[3:5])
    lane.set(one.operands[0], high << 16 | low)


@operation("IMAD")
def multiply_add(lane, one):
    a, b = lane.word(one.operands[1]), lane.word(one.operands[2])
    if "U32" not in one.modifiers and ("WIDE" in one.modifiers or "HI" in one.modifiers):
        a, b = signed(a), signed(b)
    if "WIDE" in one.modifiers:
        total = a * b + lane.pair(one.operands[3])
        lane.set(one.operands[0], total)
        lane.set(one.operands[0], total >> 32, 1)
    elif "HI" in one.modifiers:
        lane.set(one.operands[0], (a * b >> 32) + lane.word(one.operands[3]))
    else:
        carry = "X" in one.modifiers and lane.predicate(one.operands[-1])
        lane.set(one.operands[0], a * b + lane.word(one.operands[3]) + carry)


@operation("IADD3", "VIADD")
def add(lane, one):
    is_predicate = lambda text: re.match(r"!?U?P(T|\d)", text)
    predicates = [text for text in one.operands[1:] if is_predicate(text)]
    total = sum(lane.word(text) for text in one.operands[1:] if not is_predicate(text))
    if "X" in one.modifiers:
        total += sum(lane.predicate(text) for text in predicates if predicates.index(text) >= len(predicates) - 2)
    elif predicates:
        lane.set_predicate(predicates[0], total >> 32)
    lane.set(one.operands[0], total)


@operation("LEA")
def shifted_add(lane, one):
    operands = [text for text in one.operands[1:] if not re.match(r"!?U?P(T|\d)", text)]
    carries = [text for text in one.operands[1:] if re.match(r"!?U?P(T|\d)", text)]
    shift = int(operands[-1], 0)
    if "HI" in one.modifiers:
        high = lane.word(operands[2]) if len(operands) > 3 else 0
        shifted = (lane.word(operands[0]) | high << 32) << shift >> 32
    else:
        shifted = lane.word(operands[0]) << shift & MASK
    total = (shifted & MASK) + lane.word(operands[1])
    if "X" in one.modifiers:
        total += lane.predicate(carries[-1])
    elif carries:
        lane.set_predicate(carries[0], total >> 32)
    lane.set(one.operands[0], total)


def compare(lane, one, a, b):
    value = COMPARE[next(name for name in one.modifiers if name in COMPARE)](a, b)
    other = lane.predicate(one.operands[4])
    both = (lambda first: first or other) if "OR" in one.modifiers else (lambda first: first and other)
    lane.set_predicate(one.operands[0], both(value))
    lane.set_predicate(one.operands[1], both(not value))


@operation("ISETP")
def compare_words(lane, one):
    a, b = lane.word(one.operands[2]), lane.word(one.operands[3])
    compare(lane, one, *((a, b) if "U32" in one.modifiers else (signed(a), signed(b))))


@operation("FSETP")
def compare_numbers(lane, one):
    compare(lane, one, lane.number(one.operands[2]), lane.number(one.operands[3]))


@operation("SEL", "FSEL")
def select(lane, one):
    chosen = one.operands[1 if lane.predicate(one.operands[3]) else 2]
    lane.set(one.operands[0], lane.word(chosen) if one.base == "SEL" else to_word(lane.number(chosen)))


@operation("FADD", "FMUL", "FFMA")
def arithmetic(lane, one):
    a, b = lane.number(one.operands[1]), lane.number(one.operands[2])
    result = a + b if one.base == "FADD" else a * b
    if one.base == "FFMA":
        result += lane.number(one.operands[3])
    if "SAT" in one.modifiers:
        result = min(max(result, 0.0), 1.0)
    lane.set(one.operands[0], to_word(result))


@operation("FMNMX")
def number_limit(lane, one):
    choose = min if lane.predicate(one.operands[3]) else max
    lane.set(one.operands[0], to_word(choose(lane.number(one.operands[1]), lane.number(one.operands[2]))))


@operation("IMNMX", "VIMNMX", "UIMNMX")
def word_limit(lane, one):
    choose = min if lane.predicate(one.operands[3]) else max
    pair = [lane.word(text) for text in one.operands[1:3]]
    if "U32" not in one.modifiers:
        pair = map(signed, pair)
    lane.set(one.operands[0], choose(*pair))


@operation("VIADDMNMX")
def sum_limit(lane, one):
    choose = min if lane.predicate(one.operands[4]) else max
    first, second, limit = (lane.word(text) for text in one.operands[1:4])
    pair = [first + second & MASK, limit]
    if "U32" not in one.modifiers:
        pair = map(signed, pair)
    lane.set(one.operands[0], choose(*pair))


@operation("MUFU")
def function(lane, one):
    x = lane.number(one.operands[1])
    functions = {
        "RSQ": lambda: x**-0.5 if x > 0 else math.inf,
        "RCP": lambda: 1 / x if x else math.inf,
        "SQRT": lambda: math.sqrt(max(x, 0)),
        "EX2": lambda: 2.0**x,
    }
    lane.set(one.operands[0], to_word(functions[one.modifiers[0]]()))


@operation("LOP3")
def logic(lane, one):
    first = 1 if re.match(r"U?P", one.operands[0]) else 0
    a, b, c = (lane.word(text) for text in one.operands[first + 1 : first + 4])
    table = int(one.operands[first + 4], 0)
    result = 0
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    lane.set(one.operands[first], result)
    if first:
        lane.set_predicate(one.operands[0], result & MASK)


@operation("PLOP3")
def predicate_logic(lane, one):
    a, b, c = (lane.predicate(text) for text in one.operands[2:5])
    row = 4 * a + 2 * b + c
    for target, table in zip(one.operands[:2], one.operands[5:7]):
        lane.set_predicate(target, int(table, 0) >> row & 1)


@operation("SHF")
def shift(lane, one):
    low, by, high = lane.word(one.operands[1]), lane.word(one.operands[2]) & 63, lane.word(one.operands[3])
    # The upper half of the shifted pair, or the lower one.
    whole = (signed(high) if "S32" in one.modifiers or "S64" in one.modifiers else high) << 32 | low
    shifted = whole << by if "L" in one.modifiers else whole >> by
    result = shifted >> 32 if "HI" in one.modifiers else shifted
    lane.set(one.operands[0], result)


@operation("PRMT")
def permute(lane, one):
    bytes_of = struct.pack("<II", lane.word(one.operands[1]), lane.word(one.operands[3]))
    selector = lane.word(one.operands[2])
    lane.set(one.operands[0], sum(bytes_of[selector >> 4 * index & 7] << 8 * index for index in range(4)))


@operation("POPC")
def count_ones(lane, one):
    lane.set(one.operands[0], lane.word(one.operands[1]).bit_count())


@operation("I2F", "I2FP")
def from_integer(lane, one):
    word = lane.word(one.operands[1])
    lane.set(one.operands[0], to_word(float(word if "U32" in one.modifiers else signed(word))))


@operation("F2I")
def to_integer(lane, one):
    number = lane.number(one.operands[1])
    lane.set(one.operands[0], int(math.floor(number + 0.5) if "TRUNC" not in one.modifiers else number))


@operation("F2FP")
def to_halves(lane, one):
    """Two numbers to halves of a word, the first to the upper one."""
    high, low = (struct.unpack("<H", struct.pack("<e", lane.number(number)))[0] for number in one.operands[1:3])
    lane.set(one.operands[0], high << 16 | low)


@operation("FRND")
def whole_number(lane, one):
    number = lane.number(one.operands[1])
    lane.set(one.operands[0], to_word(math.floor(number) if "FLOOR" in one.modifiers else float(round(number))))


@operation("SGXT")
def extend_sign(lane, one):
    bits = lane.word(one.operands[2])
    value = lane.word(one.operands[1]) & (1 << bits) - 1
    lane.set(one.operands[0], value if "U32" in one.modifiers else value - ((value >> bits - 1) << bits))


@operation("BMSK")
def mask(lane, one):
    lane.set(one.operands[0], ((1 << lane.word(one.operands[2])) - 1) << lane.word(one.operands[1]))


def run_group(program, buffers, constants, lanes, group=0):
    """Runs all lanes of a workgroup. `buffers` are lists of words, by their index in addresses."""
    shared = {}
    all_lanes = [Lane(program, buffers, constants, shared, index, group) for index in range(lanes)]
    waiting = list(all_lanes)
    while waiting:
        # A lane that ends does not wait at further barriers.
        waiting = [lane for lane in waiting if next(lane.running, lane) is None]
    return all_lanes


def issued(program, lanes):
    """The instructions that the warps of a workgroup issue, by name."""
    counts = collections.Counter()
    for first in range(0, len(lanes), 32):
        warp = lanes[first : first + 32]
        for place in {place for lane in warp for place in lane.issued}:
            counts[program.instructions[place].name] += max(lane.issued[place] for lane in warp)
    return counts


def wavefronts(lanes):
    """The least and the most cycles of the load/store unit.

    Workgroup memory: the most words of a bank, by the lanes that go at a time. Buffers: at least a cycle for those
    lanes, at most one for each line of 128 bytes that they touch; which of both is right is not documented.
    """
    least = most = 0
    for first in range(0, len(lanes), 32):
        requests = collections.defaultdict(dict)
        for index, lane in enumerate(lanes[first : first + 32]):
            seen = collections.Counter()
            for place, kind, address, size in lane.accesses:
                seen[place] += 1
                requests[place, seen[place], kind, size][index] = address
        for (_, _, kind, size), addresses in requests.items():
            at_a_time = 128 // max(size, 4)
            for start in range(0, 32, at_a_time):
                part = [addresses[index] for index in range(start, start + at_a_time) if index in addresses]
                if part and kind in ("LDS", "STS"):
                    banks = collections.defaultdict(set)
                    for address in part:
                        for word in range(address // 4, (address + size) // 4):
                            banks[word % 32].add(word)
                    cycles = max(map(len, banks.values()))
                    least, most = least + cycles, most + cycles
                elif part:
                    lines = {end // 128 for address in part for end in (address, address + size - 1)}
                    least, most = least + 1, most + len(lines)
    return least, most
