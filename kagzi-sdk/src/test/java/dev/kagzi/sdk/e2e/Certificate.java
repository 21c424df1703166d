package dev.kagzi.sdk.e2e;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/** A self-signed certificate with its key, created with the JDK's keytool, as PEM files. */
record Certificate(Path cert, Path key) {
  private static final String PASSWORD = "changeit";

  static Certificate create(Path folder, String name) throws Exception {
    Path store = folder.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    name,
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=" + name,
                    "-ext",
                    "SAN=dns:localhost,ip:127.0.0.1",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    PASSWORD))
            .inheritIO()
            .start();
    if (keytool.waitFor() != 0) {
      throw new AssertionError("keytool: " + keytool.exitValue());
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    byte[] cert = keys.getCertificate(name).getEncoded();
    byte[] key = keys.getKey(name, PASSWORD.toCharArray()).getEncoded();
    return new Certificate(
        Files.writeString(folder.resolve(name + ".pem"), pem("CERTIFICATE", cert)),
        Files.writeString(folder.resolve(name + "-key.pem"), pem("PRIVATE KEY", key)));
  }

  private static String pem(String what, byte[] bytes) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n".formatted(what, text);
  }
}
