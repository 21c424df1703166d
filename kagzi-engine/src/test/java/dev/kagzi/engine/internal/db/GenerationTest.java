package dev.kagzi.engine.internal.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.Claim;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GenerationTest {
  /**
   * For example, one backup is restored twice, and no server is left that has seen the first
   * restore.
   */
  @Test
  void databases_with_the_same_generation_seldom_choose_the_same_next_one() {
    Random random = new Random(1);
    Set<Integer> chosen = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      chosen.add(Generation.next(0, random));
    }

    assertThat(chosen).hasSizeGreaterThan(60);
  }

  @Test
  void the_numbers_increase_and_suffice_for_hundreds_of_generations() {
    Random random = new Random(1);
    int number = 0;
    for (int i = 0; i < 500; i++) {
      int next = Generation.next(number, random);
      assertThat(next).isGreaterThan(number);
      number = next;
    }

    assertThat(number).isLessThan(Claim.GENERATION_MAX);
  }

  @Test
  void a_generation_is_before_those_that_descend_from_it() {
    Generation first = new Generation(0, List.of("a"));
    Generation next = new Generation(1, List.of("a", "b"));
    Generation other = new Generation(1, List.of("a", "c"));

    assertThat(first.isBefore(first)).isTrue();
    assertThat(first.isBefore(next)).isTrue();
    assertThat(next.isBefore(first)).isFalse();
    assertThat(next.isBefore(other)).isFalse();
    assertThat(Generation.UNKNOWN.isBefore(first)).isTrue();
  }
}
