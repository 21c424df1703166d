package dev.kagzi.cli;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which server a command talks to, what it shows there, and how it answers. */
final class ServerOptions {

  @Option(
      names = {"--address", "--server"},
      paramLabel = "HOST:PORT",
      defaultValue = "${env:KAGZI_ADDRESS:-127.0.0.1:50051}",
      description = "Where the server is (default: ${DEFAULT-VALUE}).")
  private String server = "";

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      defaultValue = "${env:KAGZI_NAMESPACE:-default}",
      description = "Whose runs (default: ${DEFAULT-VALUE}).")
  private String namespace = "";

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
      description = "The authorities for that (PEM; KAGZI_TLS_CA).")
  private @Nullable Path tlsCa;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "A certificate to show (PEM; KAGZI_CLIENT_TLS_CERT).")
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "Its key (PEM, PKCS#8; KAGZI_CLIENT_TLS_KEY).")
  private @Nullable Path tlsKey;

  @Option(names = "--json", description = "Answer as JSON.")
  private boolean json;

  RemoteServer connect() {
    return RemoteServer.connect(server, namespace, token(), credentials());
  }

  /** The flag, else the variables; empty for none. */
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

  private ChannelCredentials credentials() {
    Path ca = orVariable(tlsCa, "KAGZI_TLS_CA");
    Path cert = orVariable(tlsCert, "KAGZI_CLIENT_TLS_CERT");
    Path key = orVariable(tlsKey, "KAGZI_CLIENT_TLS_KEY");
    if ((cert == null) != (key == null)) {
      throw new CliException(
          "--tls-cert: %s, --tls-key: %s (expected: both or none)".formatted(cert, key));
    }
    boolean wanted = tls || variable("KAGZI_TLS").equalsIgnoreCase("true");
    if (!wanted && ca == null && cert == null) {
      return InsecureChannelCredentials.create();
    }
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      if (ca != null) {
        credentials.trustManager(ca.toFile());
      }
      if (cert != null && key != null) {
        credentials.keyManager(cert.toFile(), key.toFile());
      }
    } catch (IOException e) {
      throw new CliException("--tls: " + e.getMessage() + " (expected: readable files)", e);
    }
    return credentials.build();
  }

  private static @Nullable Path orVariable(@Nullable Path flag, String name) {
    String variable = variable(name);
    return flag != null || variable.isEmpty() ? flag : Path.of(variable);
  }

  /** What is there and empty is not set. */
  private static String variable(String name) {
    return System.getenv().getOrDefault(name, "");
  }

  boolean json() {
    return json;
  }
}
