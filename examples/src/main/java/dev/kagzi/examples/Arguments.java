package dev.kagzi.examples;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which example, and on which server. */
record Arguments(String name, String address) {
  static final String ADDRESS = "127.0.0.1:50051";

  private static final String OPTION = "--address";
  private static final int CONNECT_MS_MAX = 3_000;

  /** The address stands behind {@code --address} or by itself; null when it makes no sense. */
  static @Nullable Arguments parse(List<String> args, Map<String, String> environment) {
    List<String> words = new ArrayList<>();
    String address = null;
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.equals(OPTION) && i + 1 < args.size()) {
        i++;
        address = args.get(i);
      } else if (arg.startsWith(OPTION + "=")) {
        address = arg.substring(OPTION.length() + 1);
      } else {
        words.add(arg);
      }
    }
    if (words.isEmpty() || words.size() > 2 || words.stream().anyMatch(w -> w.startsWith("-"))) {
      return null;
    }
    if (address == null) {
      address = words.size() == 2 ? words.get(1) : environment.getOrDefault("KAGZI_ADDRESS", "");
    }
    return new Arguments(words.get(0), address.isEmpty() ? ADDRESS : address);
  }

  /** Whether somebody listens there. The client itself would wait for a server to come. */
  boolean isAnswering() {
    int colon = address.lastIndexOf(':');
    try (Socket socket = new Socket()) {
      int port = Integer.parseInt(address.substring(colon + 1));
      String host = address.substring(0, Math.max(0, colon)).replaceAll("[\\[\\]]", "");
      socket.connect(new InetSocketAddress(host, port), CONNECT_MS_MAX);
      return true;
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }
}
