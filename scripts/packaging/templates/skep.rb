class Skep < Formula
  desc "Team of AI agents in one file"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL@/skep-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256_DARWIN_ARM64@"
    end
    on_intel do
      url "@URL@/skep-@VERSION@-darwin-x64.tar.gz"
      sha256 "@SHA256_DARWIN_X64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/skep-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256_LINUX_ARM64@"
    end
    on_intel do
      url "@URL@/skep-@VERSION@-linux-x64.tar.gz"
      sha256 "@SHA256_LINUX_X64@"
    end
  end

  def install
    bin.install "skep"
    man1.install "skep.1"
    generate_completions_from_executable(bin/"skep", "completion")
  end

  service do
    run [opt_bin/"skep", "serve", "--data", var/"skep"]
    keep_alive crashed: true
    log_path var/"log/skep.log"
    error_log_path var/"log/skep.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/skep --version")
  end
end
