package dev.kagzi.sdk.internal.wire;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a client authenticates. Null stands for no token, for the JVM's authorities ({@code ca}), and
 * for no client certificate.
 */
public record Credentials(
    @Nullable String token, boolean tls, @Nullable Path ca, @Nullable Pair client) {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  public record Pair(Path cert, Path key) {}

  public static final Credentials NONE = new Credentials(null, false, null, null);

  public Credentials withToken(String newToken) {
    if (newToken.isEmpty() || !newToken.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          "token: not valid (expected: printable ASCII characters without spaces)");
    }
    return new Credentials(newToken, tls, ca, client);
  }

  public Credentials withTokenFile(Path file) {
    try {
      return withToken(Files.readString(file).lines().findFirst().orElse("").strip());
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "tokenFile: " + file + " (expected: a file that can be read)", e);
    }
  }

  public Credentials withTls() {
    return new Credentials(token, true, ca, client);
  }

  public Credentials withCa(Path file) {
    return new Credentials(token, true, file, client);
  }

  public Credentials withClient(Path cert, Path key) {
    return new Credentials(token, true, ca, new Pair(cert, key));
  }

  ChannelCredentials forChannel() {
    if (!tls) {
      return InsecureChannelCredentials.create();
    }
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      if (ca != null) {
        credentials.trustManager(ca.toFile());
      }
      if (client != null) {
        credentials.keyManager(client.cert().toFile(), client.key().toFile());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "tls: " + e.getMessage() + " (expected: files that can be read)", e);
    }
    return credentials.build();
  }

  Metadata headers() {
    Metadata headers = new Metadata();
    if (token != null) {
      headers.put(AUTHORIZATION, "Bearer " + token);
    }
    return headers;
  }

  @Override
  public String toString() {
    return "Credentials[" + (token == null ? "no token" : "token") + (tls ? ", TLS]" : "]");
  }
}
