package dev.kagzi.server.listen;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and keys from PEM files. Errors name the option that named the file. */
final class Pem {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
  private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");

  private Pem() {}

  static List<Certificate> certificates(String option, Path file) {
    String expected = "certificates in PEM";
    try (var in = Files.newInputStream(file)) {
      List<Certificate> found =
          List.copyOf(CertificateFactory.getInstance("X.509").generateCertificates(in));
      if (found.isEmpty()) {
        throw unfit(option, file, expected, null);
      }
      return found;
    } catch (IOException | GeneralSecurityException e) {
      throw unfit(option, file, expected, e);
    }
  }

  static PrivateKey key(String option, Path file) {
    String expected =
        "a private key in PEM, \"BEGIN PRIVATE KEY\"; openssl pkcs8 -topk8 -nodes makes one of"
            + " others";
    try {
      Matcher block = KEY.matcher(Files.readString(file, StandardCharsets.US_ASCII));
      if (!block.find()) {
        throw unfit(option, file, expected, null);
      }
      byte[] bytes = Base64.getMimeDecoder().decode(block.group(1));
      return key(new PKCS8EncodedKeySpec(bytes));
    } catch (IOException | GeneralSecurityException e) {
      throw unfit(option, file, expected, e);
    }
  }

  /** The file does not name the key's algorithm, so this tries each. */
  private static PrivateKey key(PKCS8EncodedKeySpec spec) throws GeneralSecurityException {
    InvalidKeySpecException last = new InvalidKeySpecException("none of " + ALGORITHMS);
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException another) {
        last = another;
      }
    }
    throw last;
  }

  static IllegalArgumentException unfit(
      String option,
      Path file,
      String expected,
      @org.jspecify.annotations.Nullable Throwable cause) {
    return new IllegalArgumentException(
        option + ": " + file + " (expected: " + expected + ")", cause);
  }
}
