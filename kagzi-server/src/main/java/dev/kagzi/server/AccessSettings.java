package dev.kagzi.server;

import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.Tls;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

final class AccessSettings {
  private AccessSettings() {}

  static @Nullable AccessToken token(Settings settings) {
    String token = settings.text(ServerOption.TOKEN);
    Optional<Path> file = settings.file(ServerOption.TOKEN_FILE);
    if (file.isPresent() && prefersFile(settings)) {
      return AccessToken.read(file.get());
    }
    return token.isEmpty() ? null : AccessToken.of(token);
  }

  // token and token-file are two options for one value, so the order of sources (flag, variable,
  // file) must be applied between them: --token-file wins over KAGZI_TOKEN. If both have the same
  // source, token wins.
  private static boolean prefersFile(Settings settings) {
    return settings.text(ServerOption.TOKEN).isEmpty()
        || settings
                .get(ServerOption.TOKEN_FILE)
                .source()
                .compareTo(settings.get(ServerOption.TOKEN).source())
            < 0;
  }

  static @Nullable Tls tls(Settings settings) {
    Optional<Path> cert = settings.file(ServerOption.TLS_CERT);
    Optional<Path> key = settings.file(ServerOption.TLS_KEY);
    Optional<Path> clientCa = settings.file(ServerOption.TLS_CLIENT_CA);
    if (cert.isPresent() && key.isPresent()) {
      return Tls.read(cert.get(), key.get(), clientCa.orElse(null));
    }
    if (cert.isPresent() || key.isPresent() || clientCa.isPresent()) {
      String ca = clientCa.map(file -> ", tls-client-ca: " + file).orElse("");
      throw new IllegalArgumentException(
          "tls-cert: %s, tls-key: %s%s (expected: both, or no TLS at all)"
              .formatted(name(cert), name(key), ca));
    }
    return null;
  }

  private static String name(Optional<Path> file) {
    return file.map(Path::toString).orElse("none");
  }
}
