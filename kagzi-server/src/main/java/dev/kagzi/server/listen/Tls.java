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

/** The server's certificate with its key, and by whom clients' certificates have to be signed. */
public final class Tls {
  // The stores never leave this process.
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
   * @param clientCa who signs clients' certificates; without it clients need none
   */
  public static Tls read(Path cert, Path key, @Nullable Path clientCa) {
    List<Certificate> chain = Pem.certificates("tls-cert", cert);
    PrivateKey privateKey = Pem.key("tls-key", key);
    try {
      if (!belong(chain.getFirst().getPublicKey(), privateKey)) {
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

  // Otherwise the first to notice would be the first client, in the middle of a handshake.
  private static boolean belong(PublicKey open, PrivateKey closed) throws GeneralSecurityException {
    if (!open.getAlgorithm().equals(closed.getAlgorithm())) {
      return false;
    }
    String algorithm =
        switch (closed.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> closed.getAlgorithm();
        };
    Signature sign = Signature.getInstance(algorithm);
    sign.initSign(closed);
    sign.update(SAMPLE);
    Signature verify = Signature.getInstance(algorithm);
    verify.initVerify(open);
    verify.update(SAMPLE);
    return verify.verify(sign.sign());
  }

  /** Whether clients have to show a certificate. */
  public boolean isMutual() {
    return clientAuthorities != null;
  }

  /** The certificate and its key, without a password. */
  public KeyStore identity() {
    return identity;
  }

  /** Who signs clients' certificates, or null. */
  public @Nullable KeyStore clientAuthorities() {
    return clientAuthorities;
  }

  /** The same as {@link #identity}. */
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

  /** The same as {@link #clientAuthorities}; none without. */
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
