package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Transformed payloads. */
class CodecChainTest {
  private static final byte[] OLD = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NEW =
      "fedcba9876543210fedcba9876543210".getBytes(StandardCharsets.US_ASCII);

  private static PayloadCodec encrypted(String keyId, Map<String, byte[]> keys) {
    return new JacksonCodec().then(new GzipTransform(), new AesGcmTransform(keyId, keys));
  }

  private static String bytes(Encoded payload) {
    return new String(payload.data(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void compressed_and_encrypted_payloads_are_restored() {
    PayloadCodec codec = encrypted("old", Map.of("old", OLD));
    String secret = "secret ".repeat(500);

    Encoded payload = codec.encode(secret, String.class);

    assertThat(bytes(payload)).doesNotContain("secret");
    assertThat(payload.data().length).isLessThan(200);
    assertThat(codec.decode(payload, String.class)).isEqualTo(secret);
  }

  @Test
  void two_payloads_of_one_value_differ_and_its_fingerprint_does_not() {
    PayloadCodec codec = encrypted("old", Map.of("old", OLD));

    assertThat(codec.encode("a", String.class).data())
        .isNotEqualTo(codec.encode("a", String.class).data());
    assertThat(codec.fingerprint("a", String.class))
        .isEqualTo(codec.fingerprint("a", String.class))
        .isNotEqualTo(codec.fingerprint("b", String.class))
        .isNotEqualTo(new JacksonCodec().fingerprint("a", String.class));
  }

  @Test
  void a_new_key_encrypts_and_the_old_one_still_decrypts() {
    Encoded before = encrypted("old", Map.of("old", OLD)).encode("a", String.class);
    PayloadCodec codec = encrypted("new", Map.of("old", OLD, "new", NEW));

    assertThat(codec.decode(before, String.class)).isEqualTo("a");
    assertThat(codec.encode("a", String.class).metadata()).containsEntry("kagzi-key-id", "new");
  }

  /** A run may be open for longer than a key is in use. */
  @Test
  void a_fingerprint_matches_while_its_key_exists_and_blocks_no_run_when_it_is_removed() {
    String before = encrypted("old", Map.of("old", OLD)).fingerprint("a", String.class);
    PayloadCodec both = encrypted("new", Map.of("old", OLD, "new", NEW));
    PayloadCodec later = encrypted("new", Map.of("new", NEW));

    assertThat(both.hasFingerprint("a", String.class, before)).isTrue();
    assertThat(both.hasFingerprint("b", String.class, before)).isFalse();
    assertThat(both.fingerprint("a", String.class)).startsWith("new:");
    assertThat(later.hasFingerprint("a", String.class, both.fingerprint("a", String.class)))
        .isTrue();
    assertThat(later.hasFingerprint("b", String.class, both.fingerprint("a", String.class)))
        .isFalse();
    assertThat(later.hasFingerprint("a", String.class, before)).isTrue();
  }

  @Test
  void payloads_stored_without_transforms_are_still_read() {
    Encoded plain = new JacksonCodec().encode("a", String.class);

    assertThat(encrypted("old", Map.of("old", OLD)).decode(plain, String.class)).isEqualTo("a");
  }

  @Test
  void a_missing_key_a_changed_byte_and_a_wrong_key_have_clear_messages() {
    PayloadCodec codec = encrypted("old", Map.of("old", OLD));
    Encoded payload = codec.encode("a", String.class);
    byte[] spoiled = payload.data().clone();
    spoiled[spoiled.length - 1] = (byte) (spoiled[spoiled.length - 1] ^ 1);

    assertThatThrownBy(() -> encrypted("new", Map.of("new", NEW)).decode(payload, String.class))
        .isInstanceOf(PayloadException.class)
        .hasMessage("payload was encrypted with key old (expected: one of [new])");
    assertThatThrownBy(() -> codec.decode(new Encoded(spoiled, payload.metadata()), String.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("cannot be decrypted with key old");
    assertThatThrownBy(() -> new AesGcmTransform("short", new byte[5]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("5 bytes (expected: 16, 24 or 32)");
  }
}
