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
   * The SHA-256 of each migration. A migration is frozen when a release contains it. Before that, a
   * changed migration gets its new hash here ({@code sha256sum V1__schema.sql}). After that, the
   * change is a new migration.
   */
  private static final Map<String, String> SHA_256 =
      Map.ofEntries(
          Map.entry(
              "V1__schema.sql", "45c3fa3a3b17a7408aedec8a2063faa71c8f2f07ad555cf2dca64fdb821b9009"),
          Map.entry(
              "V2__headers.sql",
              "245803eaee0ff72840047105fb0e83392cda760c32f2c2b8fae0c54701b15139"),
          Map.entry(
              "V3__run_rates.sql",
              "dd74064b6af9b242d96db81caeedae173e70e8b71c1783a352a3260dd8579cbd"),
          Map.entry(
              "V4__signals.sql",
              "5372d322f28c8fca777f431e67e2fbe1c8961a8478e94534510e65d9679c4754"),
          Map.entry(
              "V5__published_values.sql",
              "570bf5f041e29fd63f2aa6e0899dd00c1fc5160a7142b1910cda6fbac27e31cf"),
          Map.entry(
              "V6__callbacks.sql",
              "5e491e8c05ea635a06fbee5c7547fe0a51b2c198089ae0738e1662ddb6f3ffdb"),
          Map.entry(
              "V7__chains.sql", "8cc1fa1f28e48d9fc739ec0c80d361d96e8bbcf8a36b1c5f6c0216081b9a1353"),
          Map.entry(
              "V8__clean_up.sql",
              "cd7bbf0fdef7512bce734d79fe1cf0e24f5ae5a9cd9b3ff0bbd9e4e47791efca"),
          Map.entry(
              "V9__start_requests.sql",
              "f1e985dae66d236f84e92cdaf01f8d99c5a6f159bc68cc9c1893df3821d10724"),
          Map.entry(
              "V10__list_indexes.sql",
              "e9cb1735f0edc756f7faede505fcd78ec966a82d05aa936a51ff407924d72d09"),
          Map.entry(
              "V11__generation.sql",
              "56647aa0a3799a0156fcf07ae7005dc94118dc39cf773a88edc2b0cf4e48646b"),
          Map.entry(
              "V12__signal_requests.sql",
              "8754a1482d7bf2df213b0f804733aeb59fa6ea1a080418e9db0ae47a84dd4414"),
          Map.entry(
              "V13__request_retries.sql",
              "d1497ced731eb7328d80c89f944e447881478291bdaa7a3cc22327369e3cd903"));

  @Test
  void a_released_migration_is_not_changed() throws Exception {
    for (Path migration : VersionedDatabase.migrations()) {
      String name = requireNonNull(migration.getFileName()).toString();
      assertThat(SHA_256).as("hash of %s, which is to be added here", name).containsKey(name);
      assertThat(sha256(migration))
          .as("SHA-256 of %s, which was released: add a new migration instead", name)
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
