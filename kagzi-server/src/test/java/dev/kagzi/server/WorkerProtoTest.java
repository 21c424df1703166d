package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code worker.proto} is the only specification that an author of a worker has. */
class WorkerProtoTest {
  private static final Path PROTO =
      Path.of("../kagzi-protocol/src/main/protobuf/kagzi/v1/worker.proto");
  private static final Pattern RPC = Pattern.compile("  rpc (\\w+)\\(.*");
  private static final Pattern REPEAT =
      Pattern.compile("(may|can) be (sent|called) again|repeated call", Pattern.CASE_INSENSITIVE);
  private static final Pattern WHEN =
      Pattern.compile("\\b[Cc]all it\\b|^Waits for|^Records|^Ends the|^The worker leaves|^Gives");

  @Test
  void every_call_says_when_to_call_it_and_whether_it_may_be_repeated() throws IOException {
    Map<String, String> comments = comments();

    assertThat(comments)
        .hasSize(WorkerServiceGrpc.getServiceDescriptor().getMethods().size())
        .allSatisfy(
            (call, comment) -> {
              assertThat(comment).as(call).containsPattern(REPEAT).containsPattern(WHEN);
              assertThat(comment.split("[.:] ")).as(call).hasSizeGreaterThanOrEqualTo(3);
            });
  }

  /** Returns the comment of each call, on one line. */
  private static Map<String, String> comments() throws IOException {
    Map<String, String> comments = new TreeMap<>();
    List<String> comment = new ArrayList<>();
    for (String line : Files.readAllLines(PROTO)) {
      Matcher rpc = RPC.matcher(line);
      if (line.startsWith("  // ")) {
        comment.add(line.strip().substring("// ".length()));
      } else if (rpc.matches()) {
        comments.put(rpc.group(1), String.join(" ", comment));
        comment.clear();
      } else {
        comment.clear();
      }
    }
    return comments;
  }
}
