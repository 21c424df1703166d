package dev.kagzi.examples;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The command line: the example's name and the server's address. */
record Arguments(String name, String address) {
  static final String ADDRESS = "127.0.0.1:50051";

  private static final String OPTION = "--address";
  private static final int CONNECT_MS_MAX = 3_000;

  /**
   * Parses the arguments. The address is the value of {@code --address} or the second word. Returns
   * null if the arguments are invalid.
   */
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

  /**
   * Whether a server accepts connections. Checked first, because the client itself waits for a
   * server.
   */
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
