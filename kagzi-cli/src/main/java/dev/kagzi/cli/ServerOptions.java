package dev.kagzi.cli;

import dev.kagzi.sdk.Kagzi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * How a command reaches a server and prints its result. Each option may follow any word of the
 * command: {@code kagzi --address a:1 workflow list}. The last one wins.
 */
final class ServerOptions {

  private static final String MIXIN = "options";
  private static final int PORT_MAX = 65_535;
  private static final Pattern ADDRESS =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+]):\\d{1,5}");

  @Option(
      names = "--address",
      paramLabel = "HOST:PORT",
      description =
          "The server's address, or several: a:1,b:2 (KAGZI_ADDRESS; default: 127.0.0.1:50051).")
  private @Nullable String address;

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      description = "The namespace (KAGZI_NAMESPACE; default: default).")
  private @Nullable String namespace;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORM",
      description = "The output format: table or json (default: table).")
  private @Nullable Form form;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "A file whose first line is the server's token (else KAGZI_TOKEN, KAGZI_TOKEN_FILE).")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls",
      description = "Encrypt, and check the server's certificate (KAGZI_TLS=true).")
  private boolean tls;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Authorities that sign the server's certificate (PEM; KAGZI_TLS_CA).")
  private @Nullable Path tlsCa;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "The client certificate (PEM; KAGZI_CLIENT_TLS_CERT).")
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The client certificate's key (PEM, PKCS#8; KAGZI_CLIENT_TLS_KEY).")
  private @Nullable Path tlsKey;

  private enum Form {
    TABLE,
    JSON
  }

  /** Merges the options of this command and its parents. */
  static ServerOptions of(CommandSpec command) {
    ServerOptions all = new ServerOptions();
    for (CommandSpec word = command; word != null; word = word.parent()) {
      ServerOptions options = optionsOf(word);
      if (options != null) {
        all.addMissing(options);
      }
    }
    return all;
  }

  /** Returns the options of one command; null if it does not call a server. */
  private static @Nullable ServerOptions optionsOf(CommandSpec word) {
    CommandSpec mixin = word.mixins().get(MIXIN);
    return mixin == null ? null : (ServerOptions) mixin.userObject();
  }

  /** Rejects server options before a command that does not call a server. */
  static void refuseUnused(ParseResult parsed) {
    ParseResult last = parsed;
    while (last.subcommand() != null) {
      last = last.subcommand();
    }
    CommandSpec mixin = parsed.commandSpec().mixins().get(MIXIN);
    if (mixin == null || optionsOf(last.commandSpec()) != null) {
      return;
    }
    for (OptionSpec option : parsed.matchedOptions()) {
      if (mixin.optionsMap().containsKey(option.longestName())) {
        throw new ParameterException(
            last.commandSpec().commandLine(),
            "%s: given before %s (expected: only with commands that call a server)"
                .formatted(option.longestName(), last.commandSpec().name()));
      }
    }
  }

  private void addMissing(ServerOptions before) {
    address = address == null ? before.address : address;
    namespace = namespace == null ? before.namespace : namespace;
    form = form == null ? before.form : form;
    tokenFile = tokenFile == null ? before.tokenFile : tokenFile;
    tls = tls || before.tls;
    tlsCa = tlsCa == null ? before.tlsCa : tlsCa;
    tlsCert = tlsCert == null ? before.tlsCert : tlsCert;
    tlsKey = tlsKey == null ? before.tlsKey : tlsKey;
  }

  RemoteServer connect() {
    String addresses = checked(orVariable(address, "KAGZI_ADDRESS", "127.0.0.1:50051"));
    try {
      return new RemoteServer(
          client(addresses),
          addresses,
          orVariable(namespace, "KAGZI_NAMESPACE", Kagzi.DEFAULT_NAMESPACE));
    } catch (IllegalArgumentException e) {
      throw new CliException("--" + e.getMessage(), e);
    }
  }

  /** Whether an address was given. */
  boolean hasAddress() {
    return address != null;
  }

  boolean isJson() {
    return form == Form.JSON;
  }

  private static String checked(String addresses) {
    for (String address : addresses.split(",", -1)) {
      if (!ADDRESS.matcher(address).matches()
          || Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)) > PORT_MAX) {
        throw new CliException(
            ExitCode.USAGE,
            "--address: %s (expected: HOST:PORT, such as 127.0.0.1:50051, or several: a:1,b:2)"
                .formatted(addresses),
            null);
      }
    }
    return addresses;
  }

  /** Returns the token of the flag or, without a flag, of the variables; empty for none. */
  private String token() {
    String token = variable("KAGZI_TOKEN");
    if (tokenFile == null && !token.isEmpty()) {
      return token;
    }
    Path file = orVariable(tokenFile, "KAGZI_TOKEN_FILE");
    return file == null ? "" : firstLine(file);
  }

  private static String firstLine(Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("").strip();
    } catch (IOException e) {
      throw new CliException("--token-file: " + file + " (expected: a file that can be read)", e);
    }
  }

  private Kagzi.Builder client(String addresses) {
    Path ca = orVariable(tlsCa, "KAGZI_TLS_CA");
    Path cert = orVariable(tlsCert, "KAGZI_CLIENT_TLS_CERT");
    Path key = orVariable(tlsKey, "KAGZI_CLIENT_TLS_KEY");
    if ((cert == null) != (key == null)) {
      throw new CliException(
          "--tls-cert: %s, --tls-key: %s (expected: both or none)".formatted(cert, key));
    }
    Kagzi.Builder client = Kagzi.builder().address(addresses);
    if (tls || variable("KAGZI_TLS").equalsIgnoreCase("true")) {
      client.tls();
    }
    if (ca != null) {
      client.tlsCa(ca);
    }
    if (cert != null && key != null) {
      client.tlsClient(cert, key);
    }
    String token = token();
    return token.isEmpty() ? client : client.token(token);
  }

  private static @Nullable Path orVariable(@Nullable Path flag, String name) {
    String variable = variable(name);
    return flag != null || variable.isEmpty() ? flag : Path.of(variable);
  }

  private static String orVariable(@Nullable String flag, String name, String otherwise) {
    if (flag != null) {
      return flag;
    }
    String variable = variable(name);
    return variable.isEmpty() ? otherwise : variable;
  }

  /** An empty variable counts as not set. */
  private static String variable(String name) {
    return System.getenv().getOrDefault(name, "");
  }
}
