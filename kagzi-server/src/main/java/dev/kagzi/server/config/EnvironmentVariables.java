package dev.kagzi.server.config;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Which KAGZI_ variables of the environment are known, and which Kubernetes sets. */
final class EnvironmentVariables {
  private static final String PREFIX = "KAGZI_";
  private static final String COORDINATOR = "KAGZI_COORDINATOR_";

  /** Read by clients, the launcher and other programs; the server ignores them. */
  private static final String[] NOT_OF_SERVER = {
    "KAGZI_ADDRESS",
    "KAGZI_NAMESPACE",
    "KAGZI_TLS",
    "KAGZI_TLS_CA",
    "KAGZI_CLIENT_TLS_CERT",
    "KAGZI_CLIENT_TLS_KEY",
    "KAGZI_JAVA_OPTS",
    "KAGZI_SERVER_JAVA_OPTS",
    "KAGZI_JDK_ROOT",
    "KAGZI_RESTART"
  };

  private static final Pattern OLD_NAME = Pattern.compile("KAGZI_(SCHEDULER|WATCHDOG)_(.*)");

  // Kubernetes sets these in every container if a service is named kagzi or kagzi-something.
  private static final Pattern SERVICE_LINK =
      Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");
  private static final Pattern SERVICE_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");

  private EnvironmentVariables() {}

  static boolean isServiceLink(String name, String value) {
    return SERVICE_LINK.matcher(name).matches() || SERVICE_ADDRESS.matcher(value).matches();
  }

  /** Rejects unknown variables that start with KAGZI_. */
  static void check(Map<String, String> environment) {
    Set<String> known = new TreeSet<>();
    Stream.of(ServerOption.values()).map(ServerOption::variable).forEach(known::add);
    known.addAll(Arrays.asList(NOT_OF_SERVER));
    for (String name : new TreeSet<>(environment.keySet())) {
      if (name.startsWith(PREFIX)
          && !known.contains(name)
          && !isServiceLink(name, environment.getOrDefault(name, ""))) {
        throw new SettingsException(
            name + ": no such variable (expected: " + suggestion(name, known) + ")");
      }
    }
  }

  private static String suggestion(String name, Set<String> known) {
    var old = OLD_NAME.matcher(name);
    Optional<String> near =
        old.matches()
            ? similarName(COORDINATOR + old.group(2), known).map(each -> each + " instead")
            : similarName(name, known);
    return near.orElse(Settings.ANY_KNOWN);
  }

  /** Compares without the common prefix, which would make all names similar. */
  private static Optional<String> similarName(String name, Set<String> known) {
    return DidYouMean.suggest(
            name.substring(PREFIX.length()),
            known.stream().map(each -> each.substring(PREFIX.length())).toList())
        .map(each -> PREFIX + each);
  }
}
