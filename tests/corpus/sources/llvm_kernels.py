"""Kernels as LLVM assembly, for LLVM's own NVPTX back end."""

LAYOUT = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.nvvm.ex2.approx.f(float)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare i32 @vprintf(ptr, ptr)
"""

FLOATS = LAYOUT + """
@table = addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 0xC008000000000000, float 0.5], align 16
@tile = internal addrspace(3) global [256 x float] undef, align 4
@state = addrspace(1) global { i32, i8, double } { i32 7, i8 1, double 2.5 }, align 8

define ptx_kernel void @scale(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %b, %w
  %i = add i32 %base, %t
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %work, label %done
work:
  %at = getelementptr float, ptr addrspace(1) %in, i32 %i
  %v = load float, ptr addrspace(1) %at
  %s = getelementptr [256 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %v, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier0()
  %k = and i32 %i, 3
  %w0 = getelementptr [4 x float], ptr addrspace(4) @table, i32 0, i32 %k
  %weight = load float, ptr addrspace(4) %w0
  %f = call float @llvm.fma.f32(float %v, float %weight, float 1.5)
  %e = call float @llvm.nvvm.ex2.approx.f(float %f)
  %o = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %e, ptr addrspace(1) %o, align 4
  %old = atomicrmw fadd ptr addrspace(1) %out, float %e syncscope("device") monotonic
  br label %done
done:
  ret void
}

define ptx_kernel void @pairs(ptr addrspace(1) %p, <2 x half> %c) {
  %v = load <4 x half>, ptr addrspace(1) %p, align 8
  %lo = shufflevector <4 x half> %v, <4 x half> poison, <2 x i32> <i32 0, i32 1>
  %hi = shufflevector <4 x half> %v, <4 x half> poison, <2 x i32> <i32 2, i32 3>
  %f = call <2 x half> @llvm.fma.v2f16(<2 x half> %lo, <2 x half> %hi, <2 x half> %c)
  store <2 x half> %f, ptr addrspace(1) %p, align 4
  ret void
}
"""

CONTROL = LAYOUT + """
@format = private addrspace(1) constant [7 x i8] c"%d %d\\0A\\00"
@jump = addrspace(1) global [2 x ptr] [ptr @first, ptr @second]

define internal i64 @first(i64 %x) noinline { %y = mul i64 %x, 3
  ret i64 %y }
define internal i64 @second(i64 %x) noinline { %y = call i64 @llvm.fshl.i64(i64 %x, i64 %x, i64 7)
  ret i64 %y }

define i32 @factorial(i32 %n) noinline {
  %stop = icmp ult i32 %n, 2
  br i1 %stop, label %one, label %more
one:
  ret i32 1
more:
  %m = sub i32 %n, 1
  %r = call i32 @factorial(i32 %m)
  %x = mul i32 %r, %n
  ret i32 %x
}

define ptx_kernel void @control(ptr addrspace(1) noalias align 16 %out, i32 %n, { i64, [3 x i8] } %s, i128 %wide) "nvvm.maxntid"="64,2" "nvvm.minctasm"="3" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  switch i32 %n, label %other [ i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %a
    i32 4, label %d ]
a:
  %fa = call i32 @factorial(i32 %t)
  br label %other
b:
  %i = and i32 %t, 1
  %slot = getelementptr [2 x ptr], ptr addrspace(1) @jump, i32 0, i32 %i
  %f = load ptr, ptr addrspace(1) %slot
  %r = call i64 %f(i64 77)
  %rb = trunc i64 %r to i32
  br label %other
c:
  %stack = alloca { i32, i32 }, align 8
  store i32 %t, ptr %stack
  %g = addrspacecast ptr addrspace(1) @format to ptr
  %pc = call i32 @vprintf(ptr %g, ptr %stack)
  br label %other
d:
  %sh = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  %pop = call i32 @llvm.ctpop.i32(i32 %sh)
  br label %loop
loop:
  %k = phi i32 [ %pop, %d ], [ %k2, %loop ]
  %k2 = sub i32 %k, 1
  store volatile i32 %k, ptr addrspace(1) %out
  %z = icmp sgt i32 %k2, 0
  br i1 %z, label %loop, label %other
other:
  %v = phi i32 [ 0, %entry ], [ %fa, %a ], [ %rb, %b ], [ %pc, %c ], [ %k2, %loop ]
  %first = extractvalue { i64, [3 x i8] } %s, 0
  %byte = extractvalue { i64, [3 x i8] } %s, 1, 2
  %q = udiv i128 %wide, 3
  %qt = trunc i128 %q to i64
  %sum = add i64 %first, %qt
  %ext = sext i8 %byte to i64
  %sum2 = add i64 %sum, %ext
  %o = getelementptr i64, ptr addrspace(1) %out, i32 %t
  store i64 %sum2, ptr addrspace(1) %o
  %o2 = getelementptr i32, ptr addrspace(1) %out, i32 %v
  %was = cmpxchg ptr addrspace(1) %o2, i32 0, i32 %v syncscope("block") acq_rel monotonic
  fence syncscope("device") seq_cst
  ret void
}
"""

# Of each module: assembly, processor, features (the version of PTX).
KERNELS = {
    "floats": (FLOATS, "sm_80", "+ptx70"),
    "floats_new": (FLOATS, "sm_100", "+ptx86"),
    "control": (CONTROL, "sm_90", "+ptx80"),
}
