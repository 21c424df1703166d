package dev.kagzi.sdk;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

final class Fingerprint {
  private Fingerprint() {}

  static String of(byte[] data) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
    } catch (NoSuchAlgorithmException e) {
      throw new PayloadException("SHA-256: not available (expected: every JDK has it)", e);
    }
  }
}
