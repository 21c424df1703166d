package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BranchTest {

  @Test
  void a_branch_is_collected_once() {
    Branch<String> branch = Branch.of("stock", ctx -> "reserved");

    Branch<BranchResult<String>> collected = branch.collected();

    assertThat(collected.isCollected()).isTrue();
    assertThat(branch.isCollected()).isFalse();
    assertThatThrownBy(collected::collected)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("branch stock: collected twice (expected: once)");
  }
}
