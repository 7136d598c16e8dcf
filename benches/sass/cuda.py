"""Metal text of naga to CUDA text, for clang: the entry point becomes a global function, its bindings parameters."""

import re

# What clang's vector types lack of Metal's standard library, as far as naga's text of the kernels uses it. Roots and
# exponentials are the approximations of a graphics driver.
PRELUDE = r"""
#define device
#define thread
#define constant const
#define unsigned(x) ((uint)(x))
#define INLINE static inline __attribute__((device, always_inline))
#pragma clang force_cuda_host_device begin
typedef unsigned int uint;
namespace metal {
using ::uint;
#define VECTORS(T) \
typedef T T##2 __attribute__((ext_vector_type(2))); \
typedef T T##3 __attribute__((ext_vector_type(3))); \
typedef T T##4 __attribute__((ext_vector_type(4))); \
INLINE T##2 make_##T##2(T a) { return T##2{a, a}; } \
INLINE T##2 make_##T##2(T a, T b) { return T##2{a, b}; } \
INLINE T##2 make_##T##2(T##2 a) { return a; } \
INLINE T##3 make_##T##3(T a) { return T##3{a, a, a}; } \
INLINE T##3 make_##T##3(T a, T b, T c) { return T##3{a, b, c}; } \
INLINE T##3 make_##T##3(T##2 a, T c) { return T##3{a.x, a.y, c}; } \
INLINE T##3 make_##T##3(T##3 a) { return a; } \
INLINE T##4 make_##T##4(T a) { return T##4{a, a, a, a}; } \
INLINE T##4 make_##T##4(T a, T b, T c, T d) { return T##4{a, b, c, d}; } \
INLINE T##4 make_##T##4(T##3 a, T d) { return T##4{a.x, a.y, a.z, d}; } \
INLINE T##4 make_##T##4(T##2 a, T##2 b) { return T##4{a.x, a.y, b.x, b.y}; } \
INLINE T##4 make_##T##4(T##2 a, T b, T c) { return T##4{a.x, a.y, b, c}; } \
INLINE T##4 make_##T##4(T##4 a) { return a; } \
INLINE T select(T a, T b, bool c) { return c ? b : a; } \
INLINE T##2 select(T##2 a, T##2 b, bool c) { return c ? b : a; } \
INLINE T##3 select(T##3 a, T##3 b, bool c) { return c ? b : a; } \
INLINE T##4 select(T##4 a, T##4 b, bool c) { return c ? b : a; } \
INLINE T##2 select(T##2 a, T##2 b, bool2 c) { return T##2{c.x ? b.x : a.x, c.y ? b.y : a.y}; } \
INLINE T##3 select(T##3 a, T##3 b, bool3 c) { return T##3{c.x ? b.x : a.x, c.y ? b.y : a.y, c.z ? b.z : a.z}; } \
INLINE T##4 select(T##4 a, T##4 b, bool4 c) { \
    return T##4{c.x ? b.x : a.x, c.y ? b.y : a.y, c.z ? b.z : a.z, c.w ? b.w : a.w}; \
}
typedef int bool2 __attribute__((ext_vector_type(2)));
typedef int bool3 __attribute__((ext_vector_type(3)));
typedef int bool4 __attribute__((ext_vector_type(4)));
VECTORS(float)
VECTORS(uint)
VECTORS(int)
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
INLINE half2 make_half2(float2 a) { return __builtin_convertvector(a, half2); }
INLINE uint2 make_uint2(bool a, uint b) { return uint2{a, b}; }
INLINE float4 make_float4(int4 a) { return __builtin_convertvector(a, float4); }
INLINE float4 make_float4(uint4 a) { return __builtin_convertvector(a, float4); }
INLINE uint4 make_uint4(int4 a) { return __builtin_convertvector(a, uint4); }
INLINE int4 make_int4(uint4 a) { return __builtin_convertvector(a, int4); }
INLINE float min(float a, float b) { return __nvvm_fmin_f(a, b); }
INLINE float max(float a, float b) { return __nvvm_fmax_f(a, b); }
INLINE uint min(uint a, uint b) { return a < b ? a : b; }
INLINE uint max(uint a, uint b) { return a > b ? a : b; }
INLINE int min(int a, int b) { return a < b ? a : b; }
INLINE int max(int a, int b) { return a > b ? a : b; }
INLINE float clamp(float x, float a, float b) { return min(max(x, a), b); }
INLINE uint clamp(uint x, uint a, uint b) { return min(max(x, a), b); }
INLINE float2 clamp(float2 x, float2 a, float2 b) { return float2{clamp(x.x, a.x, b.x), clamp(x.y, a.y, b.y)}; }
INLINE float sqrt(float a) { return __nvvm_sqrt_approx_ftz_f(a); }
INLINE float rsqrt(float a) { return __nvvm_rsqrt_approx_ftz_f(a); }
INLINE float exp(float a) { return __nvvm_ex2_approx_ftz_f(a * 1.44269504f); }
INLINE float floor(float a) { return __nvvm_floor_ftz_f(a); }
INLINE float3 floor(float3 a) { return float3{floor(a.x), floor(a.y), floor(a.z)}; }
INLINE float rint(float a) { return __nvvm_round_ftz_f(a); }
INLINE float abs(float a) { return __nvvm_fabs_ftz_f(a); }
INLINE float3 abs(float3 a) { return float3{abs(a.x), abs(a.y), abs(a.z)}; }
INLINE float4 abs(float4 a) { return float4{abs(a.x), abs(a.y), abs(a.z), abs(a.w)}; }
INLINE float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
INLINE float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
INLINE float3 cross(float3 a, float3 b) {
    return float3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
INLINE float length(float3 a) { return sqrt(dot(a, a)); }
INLINE bool all(bool2 a) { return a.x && a.y; }
INLINE bool all(bool3 a) { return a.x && a.y && a.z; }
INLINE bool all(bool4 a) { return a.x && a.y && a.z && a.w; }
INLINE bool any(bool4 a) { return a.x || a.y || a.z || a.w; }
INLINE uint popcount(uint a) { return __builtin_popcount(a); }
INLINE uint extract_bits(uint v, uint o, uint n) { return n == 0 ? 0 : (v >> o) & (0xffffffffu >> (32u - n)); }
INLINE uint4 extract_bits(uint4 v, uint o, uint n) {
    return uint4{extract_bits(v.x, o, n), extract_bits(v.y, o, n), extract_bits(v.z, o, n), extract_bits(v.w, o, n)};
}
INLINE uint pack_float_to_snorm2x16(float2 v) {
    int a = __nvvm_f2i_rn_ftz(clamp(v.x, -1.0f, 1.0f) * 32767.0f);
    int b = __nvvm_f2i_rn_ftz(clamp(v.y, -1.0f, 1.0f) * 32767.0f);
    return (a & 0xffff) | (b << 16);
}
enum mem_flags { mem_none, mem_device, mem_threadgroup };
INLINE void threadgroup_barrier(int) { __syncthreads(); }
}
using namespace metal;
template <class To, class From> INLINE To as_type(From a) { return __builtin_bit_cast(To, a); }
"""


def translate(metal, entry, threads):
    """The CUDA text of an entry point, and the names of its parameters in order."""
    text = re.sub(r"#include.*\n", "", metal)
    text = re.sub(r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?)(?![\w.])", r"\1f", text)
    # Posse asks for workgroup memory that is not cleared.
    clears = r"    if \(\w+ == 0u\) \{\n(?:        \w+ = \{\};\n)+    \}\n    metal::threadgroup_barrier\(.*\);\n"
    text = re.sub(clears, "", text)
    # Constants that functions of the device read.
    text = re.sub(r"(?m)^constant [\w:]+ (\w+) = (.*);$", r"#define \1 (\2)", text)
    text = re.sub(r"static_cast<metal::(\w+)>\(", r"make_\1(", text)
    # A graphics driver has no calls.
    text = re.sub(r"(?m)^(?=[\w:]+ \w+\(\n)", "INLINE ", text)
    # A vector type with arguments is a constructor.
    text = re.sub(r"(?<!typedef )\b(?:metal::)?((?:float|uint|int|half)[234])\(", r"make_\1(", text)
    head = re.search(r"(?:\[\[max_total\w+\(\d+\)\]\] )?kernel void " + entry + r"\(\n(.*?)\n\) \{", text, re.S)
    parameters, declared, body, uniforms = [], [], [], []
    for line in head.group(1).split("\n"):
        line = line.strip().lstrip(",").strip()
        name = re.sub(r"\s*\[\[.*", "", line).split()[-1].lstrip("&")
        kind = re.sub(r"&?\s*\[\[.*", "", line).rsplit(" ", 1)[0].rstrip("&")
        axis = "__nvvm_read_ptx_sreg_"
        if "threadgroup_position_in_grid" in line:
            body.append(f"uint3 {name} = {{(uint){axis}ctaid_x(), (uint){axis}ctaid_y(), 0}};")
        elif "thread_index_in_threadgroup" in line:
            body.append(f"uint {name} = (uint){axis}tid_x();")
        elif kind.startswith("threadgroup "):
            kind = kind.removeprefix("threadgroup ")
            body += [f"static __attribute__((shared)) {kind} {name}_s;", f"{kind}& {name} = {name}_s;"]
        elif kind.startswith("constant "):
            kind = kind.removeprefix("constant ")
            uniforms.append(f"__attribute__((__constant__)) {kind} {name}_c;")
            body.append(f"const {kind}& {name} = {name}_c;")
        else:
            kind = kind.removeprefix("device ")
            parameters.append(name)
            declared.append(f"{kind}* __restrict__ {name}_p")
            body.append(f"{kind}& {name} = *{name}_p;")
    signature = "\n".join(uniforms) + (
        f'\nextern "C" __attribute__((global)) __attribute__((launch_bounds({threads}))) void {entry}'
        f"({', '.join(declared)}) {{\n    " + "\n    ".join(body) + "\n"
    )
    text = text[: head.start()] + signature + text[head.end() :]
    text = text.replace("threadgroup ", "").replace("struct _mslBufferSizes;", "")
    return PRELUDE + text, parameters
