package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.PageInfo;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A part of a list.
 *
 * @param nextPageToken token of the next page, or empty
 */
record ListPart<M extends Message>(List<M> items, String nextPageToken) {

  static <M extends Message> ListPart<M> of(List<M> items, PageInfo page) {
    return new ListPart<>(items, page.getNextPageToken());
  }

  ObjectNode json(String name) {
    ObjectNode json = MessageJson.empty();
    ArrayNode array = json.putArray(name);
    items.forEach(item -> array.add(MessageJson.of(item)));
    json.put("nextPageToken", nextPageToken);
    return json;
  }
}
