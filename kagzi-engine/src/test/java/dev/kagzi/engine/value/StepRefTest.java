package dev.kagzi.engine.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

class StepRefTest {
  private static final RunId RUN = RunId.next();

  @Test
  void a_step_ref_is_written_as_run_key_attempt_and_epoch() {
    assertThat(new StepRef(RUN, "charge#2", 3, 4)).hasToString(RUN + "/charge#2@3.4");
  }

  @Test
  void keys_with_separators_are_parsed_back() {
    for (String key :
        new String[] {
          "a", "fetch[1]/user#2", "a@1.2", "@", ".", "/", "a/b@c.d", "😀", " ", "@1.1@"
        }) {
      StepRef ref = new StepRef(RUN, key, Integer.MAX_VALUE, 1);

      assertThat(StepRef.parse(ref.toString())).isEqualTo(ref);
    }
  }

  @Test
  void invalid_texts_are_refused() {
    for (String text :
        new String[] {
          "",
          "x",
          RUN.toString(),
          RUN + "/",
          RUN + "/@1.1",
          RUN + "/a",
          RUN + "/a@1",
          RUN + "/a@1.",
          RUN + "/a@.1",
          RUN + "/a@-1.1",
          RUN + "/a@1.-1",
          RUN + "/a@+1.1",
          RUN + "/a@0.1",
          RUN + "/a@1.0",
          RUN + "/a@01.1",
          RUN + "/a@1.1 ",
          RUN + "/a@2147483648.1",
          RUN + "/a@99999999999999999999.1",
          RUN + "/a@٣.1",
          RUN + "a@1.1",
          "x" + RUN + "/a@1.1",
          RUN.toString().replace('-', 'x') + "/a@1.1",
          "\u0000".repeat(60) + "@1.1",
        }) {
      assertThatExceptionOfType(Refusal.class)
          .as(text)
          .isThrownBy(() -> StepRef.parse(text))
          .satisfies(
              refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT));
    }
  }

  @Test
  void the_name_is_the_key_without_scope_and_occurrence() {
    assertThat(name("charge")).isEqualTo("charge");
    assertThat(name("charge#2")).isEqualTo("charge");
    assertThat(name("fetch[1]/user")).isEqualTo("user");
    assertThat(name("all[0]/fetch#2[13]/user#4")).isEqualTo("user");
    assertThat(name("GET /orders")).isEqualTo("GET /orders");
    assertThat(name("part #x")).isEqualTo("part #x");
    assertThat(name("a[1]")).isEqualTo("a[1]");
  }

  private static String name(String key) {
    return new StepRef(RUN, key, 1, 1).name();
  }
}
