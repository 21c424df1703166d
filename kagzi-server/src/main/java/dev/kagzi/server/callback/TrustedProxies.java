package dev.kagzi.server.callback;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the address of a caller. Anybody can send the header {@code X-Forwarded-For}, so only the
 * entries that trusted proxies have appended to it are used. Thread-safe.
 */
public final class TrustedProxies {
  private static final Pattern ADDRESS =
      Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  private final List<Range> ranges;

  private record Range(InetAddress address, int bits) {
    boolean contains(InetAddress caller) {
      byte[] own = address.getAddress();
      byte[] other = caller.getAddress();
      if (other.length != own.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> (bit % 8);
        if ((own[bit / 8] & mask) != (other[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  private TrustedProxies(List<Range> ranges) {
    this.ranges = List.copyOf(ranges);
  }

  /** Parses the value of the option {@code trusted-proxies}. */
  public static TrustedProxies parse(String text) {
    List<Range> ranges = new ArrayList<>();
    Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .forEach(part -> ranges.add(range(part)));
    return new TrustedProxies(ranges);
  }

  private static Range range(String part) {
    int slash = part.indexOf('/');
    Optional<InetAddress> address = address(slash < 0 ? part : part.substring(0, slash));
    int bitsMax = address.map(each -> each.getAddress().length * 8).orElse(0);
    int bits = slash < 0 ? bitsMax : bits(part.substring(slash + 1));
    if (address.isEmpty() || bits < 0 || bits > bitsMax) {
      throw new IllegalArgumentException(
          "trusted-proxies: "
              + part
              + " (expected: addresses or ranges with commas, such as 10.0.0.0/8,::1)");
    }
    return new Range(address.get(), bits);
  }

  private static int bits(String text) {
    return text.matches("\\d{1,3}") ? Integer.parseInt(text) : -1;
  }

  /** Names are not resolved: what they resolve to may change. */
  private static Optional<InetAddress> address(String text) {
    if (!ADDRESS.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.getByName(text));
    } catch (UnknownHostException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the address of the caller.
   *
   * @param peer the address that the connection comes from
   * @param forwardedFor the header; null if there is none
   */
  public String caller(String peer, @Nullable String forwardedFor) {
    String caller = peer;
    if (forwardedFor == null) {
      return caller;
    }
    List<String> hops = Arrays.asList(forwardedFor.split(",", -1));
    for (int i = hops.size() - 1; i >= 0 && isTrusted(caller); i--) {
      String hop = hops.get(i).strip();
      if (address(hop).isEmpty()) {
        break;
      }
      caller = hop;
    }
    return caller;
  }

  private boolean isTrusted(String text) {
    return address(text)
        .filter(address -> ranges.stream().anyMatch(range -> range.contains(address)))
        .isPresent();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TrustedProxies that && ranges.equals(that.ranges);
  }

  @Override
  public int hashCode() {
    return ranges.hashCode();
  }

  @Override
  public String toString() {
    return ranges.toString();
  }
}
