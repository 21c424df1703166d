package dev.kagzi.server;

import dev.kagzi.server.config.OptionType;
import dev.kagzi.server.config.ServerOption;
import java.util.HashMap;
import java.util.Map;

/** For each option, a valid value that is not its default and does not contradict the others. */
final class OptionSamples {
  private OptionSamples() {}

  static boolean isFile(ServerOption option) {
    return option.type() instanceof OptionType.File;
  }

  static Map<String, String> with(ServerOption option) {
    Map<String, String> environment = new HashMap<>();
    environment.put(option.variable(), value(option));
    return environment;
  }

  private static String value(ServerOption option) {
    return switch (option) {
      case HOST -> "127.0.0.2";
      case DB_URL -> "jdbc:postgresql://other/kagzi";
      case OTLP_ENDPOINT -> "http://localhost:4317";
      case PUBLIC_URL -> "https://other.example";
      case CALLBACK_KEYS -> "a key of more than thirty-two characters";
      case TRUSTED_PROXIES -> "10.0.0.0/8";
      case OTLP_HEADERS -> "authorization=other";
      case ATTENTION_FAILURES_MIN -> "6";
      case JOURNAL_QUEUE_BYTES_MAX -> "65MiB";
      default ->
          switch (option.type()) {
            case OptionType.Text ignored -> "other";
            case OptionType.Secret ignored -> "other";
            case OptionType.File ignored -> "other";
            case OptionType.Choice choice -> choice.values().getFirst();
            case OptionType.Switch ignored ->
                option.defaultValue().equals("true") ? "false" : "true";
            case OptionType.Whole number -> number.max() == 200 || number.max() == 500 ? "7" : "5";
            case OptionType.Times ignored -> "-1";
            case OptionType.Decimal ignored -> "1.0";
            case OptionType.Bytes ignored -> "1500KiB";
            case OptionType.Time ignored -> time(option);
          };
    };
  }

  private static String time(ServerOption option) {
    return switch (option) {
      case COORDINATOR_WORKER_STALE_THRESHOLD, WORKER_FIRST_LEASE -> "7s";
      case SESSION_TIMEOUT, WORKER_VISIBILITY_TIMEOUT, RETRY_DELAY_MAX, CRASH_DELAY_MAX -> "61s";
      default -> "1500ms";
    };
  }
}
