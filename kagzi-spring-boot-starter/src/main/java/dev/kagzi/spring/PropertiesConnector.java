package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import java.nio.file.Path;

/** Connects by the properties of the application. */
record PropertiesConnector(KagziProperties properties) implements KagziConnector {

  @Override
  public Kagzi connect(Kagzi.Builder builder) {
    builder.address(properties.address()).namespace(properties.namespace());
    String token = properties.token();
    if (token != null) {
      builder.token(token);
    }
    Path tokenFile = properties.tokenFile();
    if (tokenFile != null) {
      builder.tokenFile(tokenFile);
    }
    encrypt(builder, properties.tls());
    return builder.connect();
  }

  private static void encrypt(Kagzi.Builder builder, KagziProperties.Tls tls) {
    if (tls.enabled()) {
      builder.tls();
    }
    Path ca = tls.ca();
    if (ca != null) {
      builder.tlsCa(ca);
    }
    Path cert = tls.cert();
    Path key = tls.key();
    if (cert != null && key != null) {
      builder.tlsClient(cert, key);
    }
  }
}
