package dev.kagzi.cli;

import java.nio.file.Path;
import java.util.Locale;

/** What {@code kagzi dev} prints once everything runs: addresses, files, and commands to try. */
record Banner(
    String host,
    int grpcPort,
    int httpPort,
    boolean tls,
    Path dataDir,
    boolean ephemeral,
    boolean demo,
    Postgres postgres) {

  /** How to connect to the database by hand. */
  record Postgres(int port, String user, String database, Path passwordFile, Path log) {

    String url() {
      return "postgresql://" + user + "@127.0.0.1:" + port + "/" + database;
    }

    String psql() {
      String target = "-h 127.0.0.1 -p " + port + " -U " + user + " " + database;
      return "PGPASSWORD=$(cat " + quoted(passwordFile) + ") psql " + target;
    }

    private static String quoted(Path path) {
      String text = path.toString();
      return text.matches("[\\w/.~-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
  }

  String text(long startNanos) {
    String grpc = shownHost(host) + ":" + grpcPort;
    String http = (tls ? "https://" : "http://") + shownHost(host) + ":" + httpPort;
    String started = String.format(Locale.ROOT, "%.1f s", startNanos / 1e9);
    StringBuilder text = new StringBuilder();
    text.append("\nKagzi ").append(Main.Version.current()).append(" is ready (");
    text.append(started).append(")\n\n");
    line(text, "gRPC", grpc);
    line(text, "HTTP", http);
    line(text, "PostgreSQL", postgres.url());
    line(text, "data", dataDir + (ephemeral ? " (deleted at the end)" : " (kept)"));
    line(text, "log", postgres.log().toString());
    text.append("\nNext\n\n");
    line(text, "look at it", http + "/");
    line(text, "use it", "Kagzi.connect(\"" + grpc + "\")");
    line(
        text,
        "see runs",
        "./kagzi workflow list" + (grpcPort == 50_051 ? "" : " --address " + grpc));
    line(text, "check it", "curl " + http + "/readyz");
    line(text, "look inside", postgres.psql());
    if (!demo) {
      line(text, "see it work", "./kagzi dev --demo");
    }
    line(text, "stop it", "Ctrl-C");
    return text.toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "  %-12s %s%n", name, value));
  }

  /** Returns an address that clients can use: the wildcard addresses are not one. */
  static String shownHost(String host) {
    return switch (host) {
      case "0.0.0.0", "::", "[::]", "127.0.0.1" -> "localhost";
      default -> host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
    };
  }
}
