// A workload for HarfBuzz: shapes a text with every font of a folder, and makes a subset of each.

#include <hb-ot.h>
#include <hb-subset.h>
#include <hb.h>

#include <filesystem>

int main() {
  for (const auto& entry : std::filesystem::directory_iterator("test/api/fonts")) {
    hb_blob_t* blob = hb_blob_create_from_file(entry.path().c_str());
    hb_face_t* face = hb_face_create(blob, 0);
    hb_font_t* font = hb_font_create(face);
    hb_buffer_t* buffer = hb_buffer_create();
    hb_buffer_add_utf8(buffer, "A line of text, \xd8\xa7\xd9\x84 and \xe0\xa4\xb9\xe0\xa4\xbf", -1, 0, -1);
    hb_buffer_guess_segment_properties(buffer);
    hb_shape(font, buffer, nullptr, 0);
    hb_subset_input_t* input = hb_subset_input_create_or_fail();
    hb_set_add_range(hb_subset_input_unicode_set(input), 0x20, 0x100);
    hb_face_destroy(hb_subset_or_fail(face, input));
    hb_set_t* found = hb_set_create();
    hb_face_collect_unicodes(face, found);
    hb_ot_layout_collect_lookups(face, HB_OT_TAG_GSUB, nullptr, nullptr, nullptr, found);
    hb_set_destroy(found);
    hb_subset_input_destroy(input);
    hb_buffer_destroy(buffer);
    hb_font_destroy(font);
    hb_face_destroy(face);
    hb_blob_destroy(blob);
  }
}
