package dev.kagzi.server.listen;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The server's certificate with its key, and the authorities of client certificates. */
public final class Tls {
  // The key stores never leave this process, so they need no password.
  private static final char[] NO_PASSWORD = {};
  private static final byte[] SAMPLE = "kagzi".getBytes(StandardCharsets.US_ASCII);

  private final KeyStore identity;
  private final @Nullable KeyStore clientAuthorities;

  private Tls(KeyStore identity, @Nullable KeyStore clientAuthorities) {
    this.identity = identity;
    this.clientAuthorities = clientAuthorities;
  }

  /**
   * Reads the files.
   *
   * @param clientCa authorities that sign client certificates; null for no client certificates
   */
  public static Tls read(Path cert, Path key, @Nullable Path clientCa) {
    List<Certificate> chain = Pem.certificates("tls-cert", cert);
    PrivateKey privateKey = Pem.key("tls-key", key);
    try {
      if (!matches(chain.getFirst().getPublicKey(), privateKey)) {
        throw Pem.unfit("tls-key", key, "the key of the certificate in " + cert, null);
      }
      KeyStore identity = emptyStore();
      identity.setKeyEntry("server", privateKey, NO_PASSWORD, chain.toArray(Certificate[]::new));
      return new Tls(identity, clientCa == null ? null : authorities(clientCa));
    } catch (GeneralSecurityException | IOException e) {
      throw Pem.unfit("tls-cert", cert, "a certificate that can be used with " + key, e);
    }
  }

  private static KeyStore authorities(Path file) throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    int count = 0;
    for (Certificate authority : Pem.certificates("tls-client-ca", file)) {
      store.setCertificateEntry("client-ca-" + count++, authority);
    }
    return store;
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }

  // Without this check a wrong key would show only in the first client's handshake.
  private static boolean matches(PublicKey publicKey, PrivateKey privateKey)
      throws GeneralSecurityException {
    if (!publicKey.getAlgorithm().equals(privateKey.getAlgorithm())) {
      return false;
    }
    String algorithm =
        switch (privateKey.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> privateKey.getAlgorithm();
        };
    Signature sign = Signature.getInstance(algorithm);
    sign.initSign(privateKey);
    sign.update(SAMPLE);
    Signature verify = Signature.getInstance(algorithm);
    verify.initVerify(publicKey);
    verify.update(SAMPLE);
    return verify.verify(sign.sign());
  }

  public boolean isMutual() {
    return clientAuthorities != null;
  }

  public KeyStore identity() {
    return identity;
  }

  public @Nullable KeyStore clientAuthorities() {
    return clientAuthorities;
  }

  public KeyManager[] keyManagers() {
    try {
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(identity, NO_PASSWORD);
      return factory.getKeyManagers();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  public TrustManager[] clientTrustManagers() {
    if (clientAuthorities == null) {
      return new TrustManager[0];
    }
    try {
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(clientAuthorities);
      return factory.getTrustManagers();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return isMutual() ? "mutual TLS" : "TLS";
  }
}
