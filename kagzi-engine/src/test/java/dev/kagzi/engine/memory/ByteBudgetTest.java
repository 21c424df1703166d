package dev.kagzi.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ByteBudgetTest {
  private final ByteBudget budget = new ByteBudget(100);

  @Test
  void bytes_that_do_not_fit_are_refused_until_some_are_released() {
    assertThat(budget.tryAcquire(60)).isTrue();
    assertThat(budget.tryAcquire(60)).isFalse();
    assertThat(budget.free()).isEqualTo(40);

    budget.release(60);

    assertThat(budget.tryAcquire(60)).isTrue();
  }

  @Test
  void any_size_is_granted_when_nothing_is_held() {
    assertThat(budget.tryAcquire(1_000)).isTrue();
    assertThat(budget.tryAcquire(1)).isFalse();
    assertThat(budget.free()).isZero();
  }

  @Test
  void small_requests_may_exceed_the_budget_but_not_without_bound() {
    assertThat(budget.tryAcquire(100)).isTrue();

    assertThat(budget.tryAcquire(50)).isFalse();
    assertThat(budget.tryAcquireSmall(50)).isTrue();
    assertThat(budget.tryAcquireSmall(1)).isFalse();
  }
}
