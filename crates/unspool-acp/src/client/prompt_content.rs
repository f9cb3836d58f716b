//! Replaces prompt content that an agent does not support.

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResourceResource, ResourceLink, TextContent,
};

use crate::agent_state::Capabilities;

/// Replaces unsupported blocks: a file by a link, an image or sound by a note.
pub(super) fn supported(blocks: &[ContentBlock], can: Capabilities) -> Vec<ContentBlock> {
    blocks
        .iter()
        .map(|block| match block {
            ContentBlock::Image(_) if !can.image => {
                note("[image omitted: this agent does not accept images]")
            }
            ContentBlock::Audio(_) if !can.audio => {
                note("[audio omitted: this agent does not accept audio]")
            }
            ContentBlock::Resource(resource) if !can.embedded => match &resource.resource {
                EmbeddedResourceResource::TextResourceContents(text) => link(&text.uri),
                EmbeddedResourceResource::BlobResourceContents(blob) => link(&blob.uri),
                _ => block.clone(),
            },
            block => block.clone(),
        })
        .collect()
}

fn note(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn link(uri: &str) -> ContentBlock {
    let name = uri.rsplit('/').next().unwrap_or(uri);
    ContentBlock::ResourceLink(ResourceLink::new(name, uri))
}
