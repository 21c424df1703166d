package dev.kagzi.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Databases of users have the released migrations, and a server refuses a database whose migrations
 * differ from its own. So a released migration never changes, not even its comments.
 */
class FrozenMigrationsTest {
  /**
   * The SHA-256 of each migration. V1 is frozen with release 0.1.0: until then a change of V1 puts
   * the new hash here ({@code sha256sum V1__schema.sql}); after it, the change is a migration V2.
   */
  private static final Map<String, String> SHA_256 =
      Map.of(
          "V1__schema.sql",
          "45c3fa3a3b17a7408aedec8a2063faa71c8f2f07ad555cf2dca64fdb821b9009",
          "V2__headers.sql",
          "245803eaee0ff72840047105fb0e83392cda760c32f2c2b8fae0c54701b15139",
          "V3__run_rates.sql",
          "dd74064b6af9b242d96db81caeedae173e70e8b71c1783a352a3260dd8579cbd");

  @Test
  void a_released_migration_is_not_changed() throws Exception {
    for (Path migration : VersionedDatabase.migrations()) {
      String name = requireNonNull(migration.getFileName()).toString();
      assertThat(SHA_256).as("hash of %s, which is to be added here", name).containsKey(name);
      assertThat(sha256(migration))
          .as("SHA-256 of %s, which was released: add a migration V2 instead", name)
          .isEqualTo(SHA_256.get(name));
    }
    assertThat(SHA_256).as("released migrations").hasSize(VersionedDatabase.migrations().size());
  }

  private static String sha256(Path file) throws IOException, GeneralSecurityException {
    // Line endings as in the repository, regardless of the checkout.
    String text = Files.readString(file).replace("\r\n", "\n");
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(hash);
  }
}
