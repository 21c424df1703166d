package dev.kagzi.cli;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A network namespace connected to ours by a veth pair: processes there have their own loopback,
 * and reach us by another address. It lives as long as its holder process, which ends with this one
 * and removes the pair. Requires root.
 */
final class OtherHost implements AutoCloseable {
  private static final String LINK_MASK = "/30";

  private final Process holder;
  private final String ours;

  private OtherHost(Process holder, String ours) {
    this.holder = holder;
    this.ours = ours;
  }

  /** Skips the test if the namespace cannot be created. */
  static OtherHost open() throws Exception {
    assumeTrue(
        Stream.of("unshare", "nsenter", "ip", "bash", "timeout").allMatch(OtherHost::isThere),
        "unshare, nsenter, ip, bash, timeout: not all there");
    Process holder = new ProcessBuilder("unshare", "--net", "cat").start();
    assumeTrue(isInside(holder), "unshare --net: refused (expected: root)");
    // From 198.18.0.0/15, which is reserved for network tests: four addresses for each process.
    long place = holder.pid() % (1 << 15);
    String net = "198.%d.%d.".formatted(18 + place / (1 << 14), place / 64 % 256);
    long first = place % 64 * 4;
    OtherHost host = new OtherHost(holder, net + (first + 1));
    host.connect("kagzi" + holder.pid(), net + (first + 2));
    return host;
  }

  /** The output proves that the process runs inside the namespace. */
  private static boolean isInside(Process holder) {
    try {
      holder.outputWriter().append("here\n").flush();
      return "here".equals(holder.inputReader().readLine());
    } catch (IOException refused) {
      return false;
    }
  }

  private static boolean isThere(String program) {
    return Stream.of("/usr/bin", "/usr/sbin", "/bin", "/sbin")
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private void connect(String cable, String theirs) throws Exception {
    String pid = Long.toString(holder.pid());
    run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", pid);
    run("ip", "address", "add", ours + LINK_MASK, "dev", cable);
    run("ip", "link", "set", cable, "up");
    run(inside("ip", "address", "add", theirs + LINK_MASK, "dev", "eth0"));
    run(inside("ip", "link", "set", "lo", "up"));
    run(inside("ip", "link", "set", "eth0", "up"));
    requireWay();
  }

  /** A firewall of this machine may block the connection. */
  private void requireWay() throws Exception {
    try (ServerSocket here = new ServerSocket(0, 1, InetAddress.getByName(ours))) {
      String there = "exec 3<>/dev/tcp/%s/%d".formatted(ours, here.getLocalPort());
      run(inside("timeout", "10", "bash", "-c", there));
    }
  }

  private void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = String.join(" ", process.inputReader().lines().toList());
    if (process.waitFor() != 0) {
      close();
      abort(String.join(" ", command) + ": " + said);
    }
  }

  /** Returns our address, as seen from there. */
  String address() {
    return ours;
  }

  /** Returns a command that runs there. */
  String[] inside(String... command) {
    List<String> words =
        new ArrayList<>(List.of("nsenter", "--net=/proc/" + holder.pid() + "/ns/net"));
    words.addAll(List.of(command));
    return words.toArray(String[]::new);
  }

  @Override
  public void close() {
    holder.destroyForcibly().onExit().join();
  }
}
