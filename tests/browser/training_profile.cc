#include "training_profile.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lumbre::test {
namespace {

using output::FrameKind;
using output::LocationId;
using output::Profile;

constexpr std::int64_t kNanosecondsPerSample = 10'101'010;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % limit;
  }

 private:
  std::uint64_t state_;
};

// Adds frames by short texts; a stack is built from the root on.
class Stacks {
 public:
  explicit Stacks(Profile& profile) : profile_(profile) {
    using output::ValueType;
    const auto type = [&](std::string_view name, std::string_view unit) {
      return ValueType{profile.intern(name), profile.intern(unit)};
    };
    profile.sample_types = {type("samples", "count"), type("cpu", "nanoseconds")};
    profile.default_sample_type = profile.intern("cpu");
    profile.duration_nanos = 10'000'000'000;
  }

  void python(std::string_view name, std::string_view file, std::int64_t line) {
    push(FrameKind::kPython, name, file, line, "");
  }
  void native(std::string_view name, std::string_view module) {
    push(FrameKind::kNative, name, "", 0, module);
  }
  void kernel(std::string_view name) { push(FrameKind::kKernel, name, "", 0, "[kernel.kallsyms]"); }
  void frame(FrameKind kind, std::string_view name, std::string_view module) {
    push(kind, name, "", 0, module);
  }
  void address(std::uint64_t offset, std::string_view module) {
    stack_.push_back(profile_.add_location({.mapping = mapping(module),
                                            .address = 0x7f0000000000 + offset,
                                            .lines = {},
                                            .kind = FrameKind::kUnknown}));
  }
  void finish(std::int64_t samples) {
    std::reverse(stack_.begin(), stack_.end());
    profile_.samples.push_back(
        {.locations = stack_, .values = {samples, samples * kNanosecondsPerSample}, .labels = {}});
    stack_.clear();
  }

 private:
  output::MappingId mapping(std::string_view module) {
    const output::StringId filename = profile_.intern(module);
    for (output::MappingId id = 0; id < profile_.mappings.size(); ++id) {
      if (profile_.mappings[id].filename == filename) return id;
    }
    output::Mapping added;
    added.memory_start = 0x7f0000000000;
    added.memory_limit = 0x7f0100000000;
    added.filename = filename;
    return profile_.add_mapping(added);
  }

  void push(FrameKind kind, std::string_view name, std::string_view file, std::int64_t line,
            std::string_view module) {
    output::Function function;
    function.name = profile_.intern(name);
    function.system_name = function.name;
    function.filename = profile_.intern(file);
    output::Location location;
    location.mapping = module.empty() ? output::kNone : mapping(module);
    location.address = 0x7f0000001000;
    location.kind = kind;
    location.lines = {{.function = profile_.add_function(function), .line = line, .column = 0}};
    stack_.push_back(profile_.add_location(location));
  }

  Profile& profile_;
  std::vector<LocationId> stack_;
};

constexpr std::string_view kTorch = "/usr/lib/python3/dist-packages/torch/lib/libtorch_cpu.so";
constexpr std::string_view kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";
constexpr std::string_view kModule = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";
constexpr std::string_view kTrain = "/home/me/resnet/train.py";
constexpr std::string_view kModel = "/home/me/resnet/model.py";

class TrainingRun {
 public:
  TrainingRun(Profile& profile, const TrainingOptions& options)
      : stacks_(profile), random_(options.seed), loader_weight_(options.loader_weight) {}

  void add_sample() {
    const auto loader = static_cast<std::uint64_t>(220 * loader_weight_);
    const std::uint64_t dice = random_.below(780 + loader);
    if (dice < loader) {
      worker();
    } else if (dice < loader + 330) {
      main_start();
      forward();
    } else if (dice < loader + 660) {
      autograd();
    } else if (dice < loader + 720) {
      main_start();
      optimizer();
    } else if (dice < loader + 740) {
      main_start();
      logging();
    } else if (dice < loader + 765) {
      stacks_.frame(FrameKind::kTruncated, "[truncated: no unwind data]", "");
      stacks_.address(0x1a2b00 + 16 * random_.below(9), "/opt/mkl/libmkl_avx512.so.2");
    } else {
      main_start();
      stacks_.python("Trainer.next_batch", kTrain, 88);
      wait_for_worker();
    }
    stacks_.finish(1);
  }

 private:
  std::int64_t pick(std::int64_t from, std::uint64_t choices) {
    return from + static_cast<std::int64_t>(random_.below(choices));
  }

  void main_start() {
    stacks_.native("_start", "/usr/bin/python3.11");
    stacks_.native("__libc_start_main", kLibc);
    stacks_.native("Py_BytesMain", "/usr/bin/python3.11");
    stacks_.python("<module>", kTrain, 211);
    stacks_.python("main", kTrain, 204);
    stacks_.python("Trainer.fit", kTrain, 61);
    stacks_.python("Trainer.train_epoch", kTrain, pick(72, 3));
  }

  void call_module() {
    stacks_.python("Module._wrapped_call_impl", kModule, 1773);
    stacks_.python("Module._call_impl", kModule, 1784);
  }

  void forward() {
    stacks_.python("Trainer.train_step", kTrain, 97);
    call_module();
    stacks_.python("ResNet.forward", kModel, pick(140, 6));
    call_module();
    const std::string_view block = random_.below(3) == 0 ? "Bottleneck.forward" : "Block.forward";
    stacks_.python(block, kModel, pick(80, 9));
    call_module();
    switch (random_.below(6)) {
      case 0:
        batch_norm();
        break;
      case 1:
        relu();
        break;
      default:
        convolution();
    }
  }

  void convolution() {
    constexpr std::string_view kConv = "/usr/lib/python3/dist-packages/torch/nn/modules/conv.py";
    stacks_.python("Conv2d.forward", kConv, 548);
    stacks_.python("Conv2d._conv_forward", kConv, 543);
    stacks_.native("torch::autograd::THPVariable_conv2d", kTorch);
    stacks_.native("at::_ops::conv2d::call", kTorch);
    stacks_.native("at::native::conv2d_symint", kTorch);
    stacks_.native("at::native::_convolution", kTorch);
    stacks_.native("at::native::mkldnn_convolution", kTorch);
    primitive("jit_avx512_core_amx_fwd_kernel");
  }

  void primitive(std::string_view kernel) {
    stacks_.native("ideep::convolution_forward::do_compute<true, false>", kTorch);
    stacks_.native("dnnl::impl::primitive_t::execute", kTorch);
    stacks_.native("dnnl::impl::cpu::x64::jit_avx512_common_convolution_fwd_t<f32>::execute",
                   kTorch);
    stacks_.native("GOMP_parallel", "/usr/lib/x86_64-linux-gnu/libgomp.so.1");
    stacks_.native("dnnl::impl::parallel(int, std::function<void (int, int)> const&)::{lambda}",
                   kTorch);
    if (random_.below(12) == 0) {
      page_fault();
      return;
    }
    if (random_.below(2) == 0) {
      stacks_.frame(FrameKind::kJit, kernel, "");
    } else {
      stacks_.frame(FrameKind::kJit, "[jit]+0x" + std::to_string(1000 + 64 * random_.below(40)),
                    "");
    }
  }

  void page_fault() {
    for (const std::string_view name :
         {"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "handle_mm_fault",
          "__handle_mm_fault", "do_anonymous_page"}) {
      stacks_.kernel(name);
    }
    if (random_.below(3) != 0) stacks_.kernel("clear_page_erms");
  }

  void batch_norm() {
    constexpr std::string_view kNorm =
        "/usr/lib/python3/dist-packages/torch/nn/modules/batchnorm.py";
    stacks_.python("_BatchNorm.forward", kNorm, pick(170, 12));
    stacks_.python("batch_norm", "/usr/lib/python3/dist-packages/torch/nn/functional.py", 2822);
    stacks_.native("at::_ops::native_batch_norm::call", kTorch);
    stacks_.native("at::native::batch_norm_cpu", kTorch);
    stacks_.native("at::native::(anonymous namespace)::batch_norm_cpu_collect_stats_impl<float>",
                   kTorch);
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      stacks_.native("at::internal::invoke_parallel<(anonymous namespace)::stats>", kTorch);
    }
  }

  void relu() {
    stacks_.python("ReLU.forward", "/usr/lib/python3/dist-packages/torch/nn/modules/activation.py",
                   133);
    stacks_.native("at::_ops::relu_::call", kTorch);
    stacks_.native("at::native::clamp_min_out", kTorch);
    stacks_.native("at::TensorIteratorBase::for_each", kTorch);
    stacks_.native("at::native::AVX512::vectorized_loop2d<clamp_min_scalar_kernel_impl>", kTorch);
  }

  void autograd() {
    stacks_.native("clone3", kLibc);
    stacks_.native("start_thread", kLibc);
    stacks_.native("torch::autograd::python::PythonEngine::thread_init", kTorch);
    stacks_.native("torch::autograd::Engine::thread_main", kTorch);
    stacks_.native("torch::autograd::Engine::evaluate_function", kTorch);
    stacks_.native("torch::autograd::Node::operator()", kTorch);
    switch (random_.below(5)) {
      case 0:
        stacks_.native("torch::autograd::generated::NativeBatchNormBackward0::apply", kTorch);
        stacks_.native("at::native::batch_norm_backward_cpu", kTorch);
        break;
      case 1:
        stacks_.native("torch::autograd::AccumulateGrad::apply", kTorch);
        stacks_.native("at::native::add_", kTorch);
        if (random_.below(3) == 0) page_fault();
        break;
      default:
        stacks_.native("torch::autograd::generated::ConvolutionBackward0::apply", kTorch);
        stacks_.native("at::native::mkldnn_convolution_backward", kTorch);
        primitive("jit_avx512_core_bwd_weights_kernel");
    }
  }

  void optimizer() {
    stacks_.python("Trainer.train_step", kTrain, 101);
    stacks_.python("Optimizer.profile_hook_step.<locals>.wrapper",
                   "/usr/lib/python3/dist-packages/torch/optim/optimizer.py", 487);
    stacks_.python("SGD.step", "/usr/lib/python3/dist-packages/torch/optim/sgd.py", pick(110, 5));
    stacks_.native("at::native::foreach_tensor_add_scalar_kernel_slow_", kTorch);
  }

  void logging() {
    stacks_.python("Trainer.train_step", kTrain, 104);
    stacks_.python("Logger.info", "/usr/lib/python3.11/logging/__init__.py", 1489);
    stacks_.python("StreamHandler.emit", "/usr/lib/python3.11/logging/__init__.py", 1110);
    stacks_.native("write", kLibc);
    system_call({"ksys_write", "vfs_write", "tty_write", "n_tty_write"});
  }

  void wait_for_worker() {
    stacks_.python("Queue.get", "/usr/lib/python3.11/multiprocessing/queues.py", 113);
    stacks_.native("poll", kLibc);
    system_call({"__x64_sys_poll", "do_sys_poll", "schedule_hrtimeout_range"});
  }

  void system_call(const std::vector<std::string_view>& names) {
    stacks_.kernel("entry_SYSCALL_64_after_hwframe");
    stacks_.kernel("do_syscall_64");
    const std::uint64_t depth = 1 + random_.below(names.size());
    for (std::uint64_t i = 0; i < depth; ++i) stacks_.kernel(names[i]);
  }

  void worker() {
    stacks_.native("_start", "/usr/bin/python3.11");
    stacks_.native("__libc_start_main", kLibc);
    stacks_.native("Py_BytesMain", "/usr/bin/python3.11");
    stacks_.python("_worker_loop",
                   "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py", 349);
    stacks_.python("_MapDatasetFetcher.fetch",
                   "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py", 52);
    stacks_.python("ImageFolder.__getitem__", "/home/me/resnet/data.py", pick(31, 4));
    if (random_.below(5) == 0) {
      stacks_.python("Compose.__call__", "/home/me/resnet/transforms.py", pick(20, 3));
      stacks_.native("ImagingResample", "/usr/lib/python3/dist-packages/PIL/_imaging.so");
      stacks_.native("ImagingResampleHorizontal_8bpc",
                     "/usr/lib/python3/dist-packages/PIL/_imaging.so");
    } else if (random_.below(4) == 0) {
      stacks_.python("default_loader", "/home/me/resnet/data.py", 12);
      stacks_.native("read", kLibc);
      system_call(
          {"ksys_read", "vfs_read", "ext4_file_read_iter", "filemap_read", "copy_page_to_iter"});
    } else {
      stacks_.python("Image.convert", "/usr/lib/python3/dist-packages/PIL/Image.py", 995);
      stacks_.python("ImageFile.load", "/usr/lib/python3/dist-packages/PIL/ImageFile.py", 300);
      stacks_.native("ImagingJpegDecode", "/usr/lib/python3/dist-packages/PIL/_imaging.so");
      const std::string_view step = random_.below(2) == 0 ? "decode_mcu" : "jsimd_idct_islow_avx2";
      stacks_.native("jpeg_read_scanlines", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62");
      stacks_.native(step, "/usr/lib/x86_64-linux-gnu/libjpeg.so.62");
    }
  }

  Stacks stacks_;
  Random random_;
  double loader_weight_;
};

}  // namespace

Profile make_training_profile(const TrainingOptions& options) {
  Profile profile;
  TrainingRun run(profile, options);
  for (std::uint32_t i = 0; i < options.stacks; ++i) run.add_sample();
  return profile;
}

Profile make_deep_profile(std::uint32_t depth) {
  Profile profile;
  Stacks stacks(profile);
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (std::uint32_t level = 0; level < depth - i; ++level) {
      stacks.python("visit_" + std::to_string(level % 7), "tree.py", level % 7);
    }
    stacks.finish(5);
  }
  return profile;
}

Profile make_wide_profile(std::uint32_t nodes) {
  Profile profile;
  Stacks stacks(profile);
  Random random(7);
  for (std::uint32_t added = 0; added < nodes; added += 20) {
    stacks.native("main", "/usr/bin/wide");
    for (std::uint32_t level = 0; level < 21; ++level) {
      stacks.native(
          "ns::function_" + std::to_string(level < 2 ? random.below(10) : random.below(3000)),
          "/usr/bin/wide");
    }
    stacks.finish(1 + static_cast<std::int64_t>(random.below(3)));
  }
  return profile;
}

Profile make_hostile_profile() {
  Profile profile;
  Stacks stacks(profile);
  for (const std::string& name :
       {std::string("</script><script>window.hacked=1</script>"),
        std::string("<img src=x onerror=window.hacked=1>"), std::string("]]><b>&amp;"),
        std::string("q\"uote<&>'x"), std::string("control\x01\x1b[31m\0end", 16),
        std::string("line\nbreak\ttab"), std::string("invalid\xff\xc3("), std::string("__proto__"),
        std::string("constructor"), std::string("${window.hacked=1}`"),
        std::string("std::ostream& operator<< <std::map<int, std::vector<A<B>>>>(A const&)"),
        std::string("\xe2\x80\xae reversed"), std::string("<!-- comment --"),
        std::string(5000, 'x'), std::string("\xe4\xb8\xad\xe6\x96\x87\xe5\x90\x8d\xe5\xad\x97")}) {
    stacks.python("main", "</title><script>window.hacked=1</script>", 3);
    stacks.native(name, "javascript:window.hacked=1");
    stacks.native("leaf", "x");
    stacks.finish(1);
  }
  return profile;
}

Profile make_empty_profile() {
  Profile profile;
  const Stacks stacks(profile);
  return profile;
}

}  // namespace lumbre::test
