package dev.kagzi.engine.internal.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UuidsTest {
  @Test
  void an_id_is_parsed_in_either_case() {
    UUID id = UUID.fromString("019a8f3e-5d0c-7c33-9a51-7a2f6f0e1c44");

    assertThat(Uuids.parse("019a8f3e-5d0c-7c33-9a51-7a2f6f0e1c44")).contains(id);
    assertThat(Uuids.parse("019A8F3E-5D0C-7C33-9A51-7A2F6F0E1C44")).contains(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1-1-1-1-1",
        "1-1-1-1-0000000000000000000000000001",
        "+19a8f3e-5d0c-7c33-9a51-7a2f6f0e1c44",
        "019a8f3e-5d0c-7c33-9a51-7a2f6f0e1c4g",
        "019a8f3e-5d0c-7c33-9a51-7a2f6f0e1c4",
      })
  void other_texts_are_no_ids(String text) {
    assertThat(Uuids.parse(text)).isEmpty();
  }
}
